import EngineTestKit
import SyncCore
import Testing

// Errors that random stories found, each as the smallest conversation.

@Suite struct FoundByStoriesTests {
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
        let closed = #"{"form":"safe","access":{"read":[]},"fields":[{"id":"a","type":"toggle"}]}"#
        let open = #"{"form":"safe","fields":[{"id":"a","type":"toggle"}]}"#
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
        let closed = #"{"form":"safe","access":{"read":[]},"fields":[{"id":"a","type":"toggle"}]}"#
        let open = #"{"form":"safe","fields":[{"id":"a","type":"toggle"}]}"#
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
}
