import EngineTestKit
import SyncCore
import Testing

// Forms that are deleted while clients watch them.

@Suite struct EngineDeletionTests {
    @Test("deleting ends subscriptions; a form of the same name is another one")
    func deleteAndCreate() throws {
        try Conversation.play(
            #"""
            connect root
            connect alice
            alice> form.watch
            alice< {"result":{"forms":[]}}
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            alice< {"method":"form.changed","params":{"form":"ice","revision":1}}
            alice> state.subscribe {"form":"ice"}
            alice< {"result":{"revision":1,"log":"$old"}}
            hold
            root> form.delete {"form":"ice"} !
            root> form.apply {"definition":@ice} !
            settle
            alice> state.get {"form":"ice"}
            alice< {"result":{"log":"$old"}}
            release
            root< {"result":{}}
            root< {"result":{"created":true,"revision":1}}
            alice< {"method":"form.changed","params":{"deleted":true,"revision":2}}
            alice< {"method":"form.changed","params":{"deleted":true,"revision":2}}
            alice< {"method":"form.changed","params":{"revision":1}}
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
            root< {"result":{"revision":2}}
            alice> state.subscribe {"form":"ice","since":{"log":"$old","revision":1}}
            alice< {"result":{"resumed":false,"revision":2}}
            """#)
    }

    @Test("a deletion that cannot be committed has not happened, nor what was created in its place")
    func failedDeletion() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            hold
            root> form.delete {"form":"ice"}
            root> form.apply {"definition":@ice}
            root> form.apply {"definition":@policies}
            root> form.delete {"form":"policies"}
            fail
            root< {"error":{"code":-32007}}
            root< {"error":{"code":-32007}}
            root< {"error":{"code":-32007}}
            root< {"error":{"code":-32007}}
            release
            root> form.list
            root< {"result":{"forms":[{"form":"ice","revision":1}]}}
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
            root< {"result":{"revision":2}}
            """#)
    }

    @Test("a form that is created again after its deletion is there, whatever was looked up before")
    func createAfterDeletion() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            root> form.delete {"form":"ice"}
            root< {"result":{}}
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true,"revision":1}}
            root> form.get {"form":"ice"}
            root< {"result":{"form":"ice","version":1}}
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
            root< {"result":{"revision":2}}
            crash
            connect root
            root> state.get {"form":"ice","fields":["scoops"]}
            root< {"result":{"revision":2,"fields":{"scoops":{"value":3}}}}
            """#)
    }

    @Test("every edit of a form that was deleted is refused as of no such form, and harms nobody")
    func editAfterDeletion() throws {
        let host = try EngineHost()
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            root> form.apply {"definition":@policies}
            root< {"result":{"created":true}}
            root> state.get {"form":"policies"}
            root< {"result":{"log":"$log"}}
            root> form.delete {"form":"ice"}
            root< {"result":{}}
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
            root< {"error":{"code":-32001}}
            root> state.undo {"form":"ice"}
            root< {"error":{"code":-32001}}
            root> state.redo {"form":"ice"}
            root< {"error":{"code":-32001}}
            root> form.setOptions {"form":"ice","field":"flavor","options":["mint"]}
            root< {"error":{"code":-32001}}
            root> form.delete {"form":"ice"}
            root< {"error":{"code":-32001}}
            root> state.set {"form":"policies","changes":[{"field":"stop","value":true}]}
            root< {"result":{"revision":2}}
            root> state.get {"form":"policies"}
            root< {"result":{"log":"$log","revision":2}}
            """#, host: host)
        #expect(!host.rebuildAsked)
    }
}
