import EngineTestKit
import SyncCore
import Testing

// Errors that random stories found, each as the smallest conversation.

@Suite struct FoundByStoriesTests {
    /// A form that nobody but an admin may read, and the same for everybody.
    private let closed =
        #"{"form":"safe","access":{"read":[]},"fields":[{"id":"a","type":"toggle"}]}"#
    private let open = #"{"form":"safe","fields":[{"id":"a","type":"toggle"}]}"#

    @Test("a form whose deletion is not durable yet takes no place of formsPerUserMax")
    func deletionMakesRoom() throws {
        var limits = Limits()
        limits.formsPerUserMax = 1
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            hold
            root> form.delete {"form":"ice"} !
            root> form.apply {"definition":@ice} !
            release
            root< {"result":{}}
            root< {"result":{"created":true,"revision":1}}
            """#, host: EngineHost(limits: limits))
    }

    @Test("who may not read a definition is not told of it, though the next gives the right back")
    func readersOfEachDefinition() throws {
        try Conversation.play(
            #"""
            connect root
            connect alice
            root> form.apply {"definition":\#(open)}
            root< {"result":{"created":true}}
            alice> form.watch
            alice< {"result":{"forms":[{"form":"safe"}]}}
            alice> state.subscribe {"form":"safe"}
            alice< {"result":{"revision":1}}
            hold
            root> form.apply {"definition":\#(closed)} !
            root> form.apply {"definition":\#(open)} !
            release
            root< {"result":{"revision":2}}
            root< {"result":{"revision":3}}
            alice< {"method":"form.changed","params":{"form":"safe","revision":2,"deleted":true}}
            alice< {"method":"form.changed","params":{"form":"safe","revision":3}}
            """#)
    }

    @Test("who was allowed to read a form just before its deletion is told of the deletion")
    func readersOfADeletion() throws {
        try Conversation.play(
            #"""
            connect root
            connect alice
            root> form.apply {"definition":\#(closed)}
            root< {"result":{"created":true}}
            alice> form.watch
            alice< {"result":{"forms":[]}}
            hold
            root> form.apply {"definition":\#(open)} !
            root> form.delete {"form":"safe"} !
            release
            root< {"result":{"revision":2}}
            root< {"result":{}}
            alice< {"method":"form.changed","params":{"form":"safe","revision":2}}
            alice< {"method":"form.changed","params":{"form":"safe","revision":3,"deleted":true}}
            """#)
    }

    @Test("require current knows the connection's own writes for each change of one field")
    func requireCurrentOfOneFieldTwice() throws {
        try Conversation.play(
            #"""
            connect root
            connect alice
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            alice> state.get {"form":"ice"}
            alice< {"result":{"context":"$start"}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","increment":2}]}
            alice< {"result":{"revision":2}}
            alice> state.set {"form":"ice","context":"$start","require":"current","changes":[{"field":"scoops","increment":1},{"field":"scoops","value":1}]}
            alice< {"result":{"revision":3,"fields":{"scoops":{"value":1}}}}
            """#)
    }

    @Test("the answer's token continues the token of a change that all others include")
    func leastTokenOfChanges() throws {
        let form = #"{"form":"n","fields":[{"id":"n","type":"stepper","min":0,"max":99}]}"#
        let set = #"state.set {"form":"n","changes":[{"field":"n","increment":1}]}"#
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":\#(form)}
            root< {"result":{"created":true}}
            root> \#(set)
            root< {"result":{"revision":2}}
            root> \#(set)
            root< {"result":{"revision":3}}
            root> \#(set)
            root< {"result":{"revision":4}}
            root> state.set {"form":"n","changes":[{"field":"n","increment":1,"context":"3f9a.1:2"},{"field":"n","increment":1,"context":"3f9a.1:1+3"},{"field":"n","increment":1,"context":"3f9a.1:1"}]}
            root< {"result":{"revision":5,"context":"3f9a.1:1+4+5+6"}}
            """#)
    }

    @Test("below commit, the history has what was answered, also while the store cannot write")
    func historyWhileStoreFails() throws {
        let host = try EngineHost(durability: .interval)
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            """#, host: host)
        host.storeFails = true
        try Conversation.play(
            #"""
            connect root
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":1}]}
            root< {"result":{"revision":2}}
            pass 200
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":2}]}
            root< {"error":{"data":{"kind":"unavailable"}}}
            root> state.history {"form":"ice"}
            root< {"result":{"entries":[{"revision":2},{"revision":1}],"more":false}}
            root> state.history {"form":"ice","limit":1}
            root< {"result":{"entries":[{"revision":2}],"more":true}}
            root> state.history {"form":"ice","before":2}
            root< {"result":{"entries":[{"revision":1}],"more":false}}
            """#, host: host)
    }

    @Test("server.status counts a form when its creation is durable, as form.list shows it")
    func statusCountsDurableForms() throws {
        try Conversation.play(
            Conversation.heldCreation + #"""
                alice> form.list
                alice< {"result":{"forms":[]}}
                alice> server.status
                alice< {"result":{"forms":{"count":0,"fields":0}}}
                release
                root< {"result":{"created":true}}
                alice> server.status
                alice< {"result":{"forms":{"count":1}}}
                hold
                root> form.delete {"form":"ice"} !
                alice> server.status
                alice< {"result":{"forms":{"count":1}}}
                release
                root< {"result":{}}
                alice> server.status
                alice< {"result":{"forms":{"count":0}}}
                """#)
    }

    @Test("state.unsubscribe does not know a form before its creation is durable")
    func unsubscribeFromUndurableForm() throws {
        try Conversation.play(
            Conversation.heldCreation + #"""
                alice> state.subscribe {"form":"ice"}
                alice< {"error":{"data":{"kind":"notFound"}}}
                alice> state.unsubscribe {"form":"ice"}
                alice< {"error":{"data":{"kind":"notFound"}}}
                release
                root< {"result":{"created":true}}
                alice> state.unsubscribe {"form":"ice"}
                alice< {"result":{}}
                """#)
    }
}
