// What a store must read, according to the oracle.

import SyncCore

extension CausalWorld {
    /// How `copy`'s value of `field` differs from the oracle's; `nil` if they agree.
    func disagreement(_ copy: Copy, on field: TrialField) -> String? {
        switch copy.form[field.key] {
        case .register(let register):
            return disagreement(register, field, 1, copy) ?? unforeseen(register, field, copy)
        case .components(let map):
            for (place, name) in TrialEdit.componentNames.enumerated() {
                let wrong = disagreement(map[name], field, 1 << UInt8(place), copy)
                if let wrong { return "\(name): \(wrong)" }
            }
            return nil
        case .tags(let set): return disagreement(set, copy)
        case .counter(let counter): return disagreement(counter, copy)
        case .presses(let counter):
            var presses = 0
            oracle.each(field.causal, copy.knowledge) { _ in presses += 1 }
            return counter.presses == presses
                ? nil : "\(counter.presses) presses, not \(presses)"
        case .sealed(let register):
            let expected = oracle.latest(field.causal, copy.knowledge)
            let isRight =
                register.secret?.dot == expected?.dot
                && register.secret?.stamp == expected?.stamp
                && register.secret?.bytes == expected.map { [UInt8($0.number & 0xff)] }
            return isRight ? nil : "\(register.secret as Any), not \(expected as Any)"
        }
    }

    private func disagreement(
        _ register: MultiValueRegister<Written>, _ field: TrialField, _ key: UInt8, _ copy: Copy
    ) -> String? {
        let siblings = register.siblings
        var matched = 0
        var missing: CausalEvent?
        oracle.eachAlive(field.causal, key, copy.knowledge) { event in
            let isThere = siblings.contains { sibling in
                sibling.dot == event.dot && sibling.stamp == event.stamp
                    && sibling.payload.value?.isWritten(by: event) == true
            }
            if isThere { matched += 1 } else { missing = event }
        }
        if let missing { return "\(missing.dot) = \(missing.number) is missing" }
        if matched != siblings.count { return "\(siblings.count) siblings, not \(matched)" }
        let standing = field.policy.current(siblings)?.dot
        let expected = oracle.standing(field.causal, key, copy.knowledge)?.dot
        return standing == expected
            ? nil : "the current value is \(standing as Any), not \(expected as Any)"
    }

    /// The siblings according to full histories only, if the copy has them.
    private func unforeseen(
        _ register: MultiValueRegister<Written>, _ field: TrialField, _ copy: Copy
    ) -> String? {
        guard field == .ask,
            let maximal = oracle.maximal(field.causal, copy.knowledge, isWhole: isWhole)
        else { return nil }
        var siblings = EventSet()
        for sibling in register.siblings {
            if let number = sibling.payload.value?.integerValue { siblings.insert(Int(number)) }
        }
        return siblings == maximal ? nil : "siblings \(siblings), by histories \(maximal)"
    }

    private func disagreement(_ set: AddWinsSet, _ copy: Copy) -> String? {
        var keys: UInt8 = 0
        oracle.eachAlive(TrialField.tags.causal, 15, copy.knowledge) { event in
            keys |= event.keys & ~copy.knowledge.removedKeys(of: event.id)
        }
        for (place, name) in TrialEdit.tagNames.enumerated() {
            let expected = keys & 1 << UInt8(place) != 0
            if set.contains(.string(name)) != expected { return "\(name) is in: not \(expected)" }
        }
        return set.isEmpty == (keys == 0) ? nil : "set: not \(keys != 0)"
    }

    private func disagreement(_ counter: EpochCounter, _ copy: Copy) -> String? {
        let count = TrialField.count.causal
        let base = oracle.standing(count, 1, copy.knowledge)
        var expected = base?.number ?? 0
        var bases = 0
        oracle.each(count, copy.knowledge) { event in
            if let increment = event.increment, increment.epoch == base?.id ?? -1 {
                expected += increment.amount
            }
        }
        oracle.eachAlive(count, 1, copy.knowledge) { _ in bases += 1 }
        if counter.bases.count != bases { return "\(counter.bases.count) bases, not \(bases)" }
        let value = counter.value(.latest, default: .zero)
        return value == DecimalNumber(Int64(expected)) ? nil : "\(value as Any), not \(expected)"
    }
}

extension JSON {
    fileprivate func isWritten(by event: CausalEvent) -> Bool {
        event.flag != nil
            ? boolValue == event.flag : integerValue.map(Int.init) == event.number
    }
}

extension CausalForm {
    /// The greatest timestamp in the form.
    var greatestStamp: HybridTimestamp {
        var greatest = HybridTimestamp(milliseconds: 0)
        for field in fields {
            switch field.store {
            case .register(let store):
                for sibling in store.siblings { greatest = max(greatest, sibling.stamp) }
            case .components(let store):
                for component in store.components {
                    for sibling in component.register.siblings {
                        greatest = max(greatest, sibling.stamp)
                    }
                }
            case .counter(let store):
                for base in store.bases { greatest = max(greatest, base.stamp) }
            case .sealed(let store):
                if let secret = store.secret { greatest = max(greatest, secret.stamp) }
            case .tags, .presses: break
            }
        }
        return greatest
    }

    /// The form with the timestamps of its registers limited to `bound`: a fault.
    func withStamps(upTo bound: Int64) -> CausalForm {
        let altered = fields.map { Field(id: $0.key.id, store: $0.store.withStamps(upTo: bound)) }
        return CausalForm(context: context, sorted: altered) ?? self
    }
}

extension FieldStore {
    /// A register with its timestamps limited to `bound`, or another store: a fault.
    func withStamps(upTo bound: Int64) -> FieldStore {
        guard case .register(let register) = self else { return self }
        let siblings = register.siblings.map { sibling in
            MultiValueRegister<Written>.Sibling(
                dot: sibling.dot, stamp: min(sibling.stamp, HybridTimestamp(milliseconds: bound)),
                payload: sibling.payload)
        }
        return MultiValueRegister(sorted: siblings).map { .register($0) } ?? self
    }
}
