"""A fleet of two sites with a server each, one of which is a leaf of the other."""

import fleet
import network


class Sites(fleet.Fleet):
    """A site of one host, the hub, and a leaf site of two. Each site is one machine, whose cable is
    its connection to the other one."""

    def __init__(self, binary, writers=1):
        self.network = network.Network()
        self.make_folder()
        self.writers, self.forwarder = writers, None
        hub, self.leaf = self.network.place(), self.network.place()
        self.server = fleet.Server(
            hub, binary, ["--stream", "hub", "--stream", "berlin", "web1"], self.folder + "/hub")
        leaf = fleet.Server(
            self.leaf, binary,
            ["--stream", "berlin", "--stream", "hub", "--leaf-of", "hub", "db1", "db2"],
            self.folder + "/berlin", lambda config: config.replace(
                "PASSWORD@ADDRESS", "%s@%s" % (self.server.passwords["berlin"], hub.address)))
        self.servers = [self.server, leaf]
        self.make_key()
        self.names = ["web1", "db1", "db2"]
        homes = [(hub, ("hub", "berlin"))] + [(self.leaf, ("berlin", "hub"))] * 2
        self.hosts = [
            fleet.Host(number, name, place, self.key, self.folder + "/" + name, streams=streams)
            for number, (name, (place, streams)) in enumerate(zip(self.names, homes))]
        self.share(len(self.hosts), [
            "nats://%s:%s@127.0.0.1:4222" % (host.name, server.passwords[host.name])
            for host, server in zip(self.hosts, [self.server, leaf, leaf])])
