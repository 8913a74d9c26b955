// Whether somebody else could have put a folder there, or can replace it (docs/PROTOCOL.md, "Is it
// really my daemon?").

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A folder on a path that cannot be trusted, and why.
public struct UnsafeFolder: Error, Hashable, Sendable {
    /// What is wrong with it.
    public enum Reason: Hashable, Sendable {
        /// It belongs to that uid.
        case owner(UInt32)
        /// A symbolic link of that uid, or any link if none is followed.
        case link(owner: UInt32)
        /// Its mode lets others write it.
        case writable(mode: UInt32)
        /// It is sticky: anybody may put a folder of their own into it.
        case sticky
        /// It is another kind of file.
        case noFolder
        /// More links than the kernel follows.
        case tooManyLinks
    }

    /// The folder.
    public var path: String
    public var reason: Reason

    /// A folder and what is wrong with it.
    public init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }

    /// What is wrong in words, without the path.
    public var words: String {
        switch reason {
        case .owner(let uid): "it belongs to uid \(uid)"
        case .link(let uid): "it is a symbolic link of uid \(uid)"
        case .writable(let mode): "others may write it (mode \(String(mode, radix: 8)))"
        case .sticky: "everybody may put folders into it"
        case .noFolder: "it is not a folder"
        case .tooManyLinks: "too many symbolic links"
        }
    }
}

/// The check of a path, folder by folder: lstat(2), readlink(2).
enum PathSafety {
    /// Links that are followed on one path, as many as the kernel follows: path_resolution(7).
    private static let linksMax = 40

    /// The first folder of a path that is not safe for a user, as far as the path exists.
    static func problem(
        with path: String, for user: UInt32, allowsSticky: Bool = true
    ) -> UnsafeFolder? {
        var pending = names(of: absolute(path))
        if let problem = check("/", for: user, allowsSticky) { return problem }
        var folder = ""
        var links = 0
        while let name = pending.popLast() {
            if name == ".." {
                folder = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
                continue
            }
            let here = folder + "/" + name
            guard let facts = FileFacts.at(here, followingLinks: false) else { return nil }
            guard facts.kind == .link else {
                if let problem = check(here, facts, for: user, allowsSticky) { return problem }
                folder = here
                continue
            }
            guard facts.owner == 0 || facts.owner == user, let target = destination(of: here)
            else { return UnsafeFolder(path: here, reason: .link(owner: facts.owner)) }
            links += 1
            guard links <= linksMax else {
                return UnsafeFolder(path: here, reason: .tooManyLinks)
            }
            if target.hasPrefix("/") { folder = "" }
            pending += names(of: target)
        }
        return nil
    }

    /// Why a folder is not a user's own: as above, and it belongs to that user and is not a link.
    ///
    /// - Parameter isPrivate: nobody else may write it, its group neither.
    static func problem(
        withOwn folder: String, of user: UInt32, isPrivate: Bool
    ) -> UnsafeFolder? {
        guard let facts = FileFacts.at(folder, followingLinks: false) else {
            return problem(with: folder, for: user)
        }
        if facts.kind == .link {
            return UnsafeFolder(path: folder, reason: .link(owner: facts.owner))
        }
        if let problem = problem(with: folder, for: user) { return problem }
        if facts.owner != user { return UnsafeFolder(path: folder, reason: .owner(facts.owner)) }
        guard !isPrivate || facts.mode & 0o022 == 0 else {
            return UnsafeFolder(path: folder, reason: .writable(mode: facts.mode))
        }
        return nil
    }

    private static func check(
        _ path: String, for user: UInt32, _ allowsSticky: Bool
    ) -> UnsafeFolder? {
        FileFacts.at(path).flatMap { check(path, $0, for: user, allowsSticky) }
    }

    private static func check(
        _ path: String, _ facts: FileFacts, for user: UInt32, _ allowsSticky: Bool
    ) -> UnsafeFolder? {
        let reason: UnsafeFolder.Reason
        // A group of the number of the owner is that user's private group.
        let writers: UInt32 = facts.group == facts.owner ? 0o002 : 0o022
        if facts.kind != .directory {
            reason = .noFolder
        } else if facts.owner != 0, facts.owner != user {
            reason = .owner(facts.owner)
        } else if facts.mode & 0o1000 != 0 {
            if allowsSticky { return nil }
            reason = .sticky
        } else if facts.mode & writers != 0 {
            reason = .writable(mode: facts.mode)
        } else {
            return nil
        }
        return UnsafeFolder(path: path, reason: reason)
    }

    /// The names of a path, the last one first.
    private static func names(of path: String) -> [String] {
        path.split(separator: "/").reversed().filter { $0 != "." }.map(String.init)
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }

    private static func destination(of link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
