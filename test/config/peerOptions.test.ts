import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DEV_CANCUN_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { parseEnode, showEnode } from "../../src/config/enode.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { settings, problems, write, folder } = settingsIn("ibex-peers-");
const ID = "a1".repeat(64);
const FORM =
  "Enode URL should have the following format 'enode://<node_id>@<ip>:<listening_port>[?discport=<discovery_port>]'.";

describe("an enode URL", () => {
  it.each([
    [`enode://${ID}@1.2.3.4:30303`, { host: "1.2.3.4", tcpPort: 30303, udpPort: 30303 }],
    [`enode://${ID}@1.2.3.4:30303?discport=0`, { host: "1.2.3.4", tcpPort: 30303, udpPort: undefined }],
    [`enode://${ID}@1.2.3.4:0?discport=30301`, { host: "1.2.3.4", tcpPort: undefined, udpPort: 30301 }],
    [`enode://${ID}@[::1]:30303?discport=30301`, { host: "::1", tcpPort: 30303, udpPort: 30301 }],
    [`enode://${ID}@node.example.org:30303`, { host: "node.example.org", tcpPort: 30303, udpPort: 30303 }],
  ])("%s is read, and shown unchanged", (url, expected) => {
    const enode = parseEnode(url);
    expect(enode).toMatchObject({ ok: true, value: expected });
    expect(enode.ok && showEnode(enode.value)).toBe(url);
  });

  it.each([
    [`enode://${ID}@1.2.3.4:30303/`, `enode://${ID}@1.2.3.4:30303`],
    [`ENODE://${ID}@1.2.3.4:030303/a/b#note`, `enode://${ID}@1.2.3.4:30303`],
    [`enode://${ID}@1.2.3.4:30303/a?discport=0#note`, `enode://${ID}@1.2.3.4:30303?discport=0`],
  ])("%s is read as the URL that it is in Besu", (url, shown) => {
    const enode = parseEnode(url);
    expect(enode.ok && showEnode(enode.value)).toBe(shown);
  });

  it.each([
    ["", "Missing 'enode' scheme."],
    [`enr://${ID}@1.2.3.4:30303`, "Missing 'enode' scheme."],
    ["enode://1.2.3.4:30303", "Missing node ID."],
    ["enode://@1.2.3.4:30303", "Missing node ID."],
    [
      `enode://0x${ID}@1.2.3.4:30303`,
      "Invalid node ID: node ID must have exactly 128 hexadecimal characters and should not include any '0x' hex prefix.",
    ],
    [`enode://${ID}@:30303`, "Invalid ip address."],
    [`enode://${ID}@1.2.3.4`, "Invalid port."],
    [`enode://${ID}@1.2.3.4:A`, "Invalid port."],
    [`enode://${ID}@1.2.3.4:65536`, "Port numbers go up to 65535."],
  ])("'%s' is refused: %s", (url, detail) => {
    expect(parseEnode(url)).toMatchObject({
      ok: false,
      error: { message: `Invalid enode URL syntax '${url}'. ${FORM} ${detail}` },
    });
  });
});

describe("options of peers", () => {
  it.each([
    [
      ["--bootnodes=enode://12@1.2.3.4:30303"],
      "Invalid value for option '--bootnodes': Invalid enode URL syntax 'enode://12@1.2.3.4:30303'.",
    ],
    [
      [`--bootnodes=enode://${ID}@host:30303`],
      "Invalid ip address: host names need --Xdns-enabled. (--bootnodes is given on the command line)",
    ],
    [[`--bootnodes=enode://${ID}@1.2.3.4:1?discport=0`], "Bootnodes must have discovery ports configured"],
    [["--banned-node-ids=0x12"], "Invalid value for option '--banned-node-ids': Invalid node ID '0x12'"],
    [
      ["--net-restrict=10.0.0.0/33"],
      "Invalid value for option '--net-restrict': '10.0.0.0/33' is not a subnet in CIDR notation",
    ],
    [
      ["--required-block=5"],
      "Invalid value for option '--required-blocks': '5' should be in KEY=VALUE[,KEY=VALUE]... format",
    ],
    [["--required-blocks=x=0x12"], "'x=0x12' is not a block number, = and a block hash"],
    [
      ["--p2p-interface=192.0.2.1"],
      "The provided --p2p-interface is not available: 192.0.2.1 (--p2p-interface is given on the command line)",
    ],
    [
      ["--discovery-dns-url=enrtree://ABC@nodes.example.org"],
      "Invalid value for option '--discovery-dns-url': 'enrtree://ABC@nodes.example.org' is not an enrtree URL: expected enrtree://<public key in base32>@<domain>",
    ],
    [
      ["--nat-method=kubernetes", "--Xnat-method-fallback-enabled=false"],
      "--nat-method=KUBERNETES is not supported: this node does not ask Kubernetes for the address of a service. Set --p2p-host",
    ],
    [["--Xdns-update-enabled"], "The --Xdns-update-enabled option needs --Xdns-enabled to be true"],
    [
      ["--static-nodes-file=absent.json"],
      `Static nodes file ${folder}/absent.json does not exist (--static-nodes-file is given on the command line)`,
    ],
    [["--Xsynchronizer-block-propagation-range=5..1"], "'5..1' is not a range"],
  ])("%j prevents the start", (args, problem) => {
    expect(problems({ args: [DEV_GENESIS, ...args] })).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    [[`--bootnodes=enode://${ID}@host:30303`, "--Xdns-enabled"], []],
    [
      [`--bootnodes=enode://${ID}@1.2.3.4:30303`, "--discovery-enabled=false"],
      ["Discovery disabled: bootnodes will be ignored."],
    ],
    [
      ["--p2p-enabled=false", "--max-peers=3", `--bootnodes=enode://${ID}@1.2.3.4:30303`],
      ["bootnodes, max-peers has been ignored because --p2p-enabled was not defined on the command line."],
    ],
    [
      [
        "--discovery-enabled",
        "--required-block=5=0x1212121212121212121212121212121212121212121212121212121212121212",
      ],
      [
        "--required-blocks has no effect in this node: peers are not asked for blocks that the operator names.",
      ],
    ],
    [
      ["--Xnat-kube-service-name=node", "--nat-method=NONE"],
      ["--Xnat-kube-service-name has no effect in this node: --nat-method is neither KUBERNETES nor AUTO."],
    ],
    [
      ["--nat-method=UPNP"],
      [
        "--nat-method=UPNP is not supported: this node does not ask a router to forward ports. Set --p2p-host to the address at which others reach this node, forward --p2p-port (TCP and UDP) to it under the same number, and set --nat-method=NONE. Until then --p2p-host is announced.",
      ],
    ],
    [
      ["--nat-method=UPNP", "--p2p-enabled=false"],
      ["nat-method has been ignored because --p2p-enabled was not defined on the command line."],
    ],
    [["--nat-method=DOCKER"], []],
    [
      ["--Xnat-method-fallback-enabled=false"],
      ["--Xnat-method-fallback-enabled=false has no effect with --nat-method=AUTO."],
    ],
    [
      ["--ethstats-contact=me"],
      ["ethstats-contact has been ignored because --ethstats was not defined on the command line."],
    ],
    [["--sync-min-peers=3"], ["--sync-min-peers is ignored in FULL sync-mode"]],
  ])("%j gives its warnings", (args, warnings) => {
    expect(settings({ args: [DEV_GENESIS, ...args] }).warnings).toEqual(warnings);
  });

  it("static nodes may have comments, as in Besu", () => {
    const url = `enode://${ID}@1.2.3.4:30303`;
    const text = `// validators\r\n[ /* the first */ "${url}" // Berlin\r\n]\r\n`;
    const name = write("commented.json", text);
    const { peers } = settings({ args: [DEV_GENESIS, `--static-nodes-file=${name}`] });
    expect(peers?.maintained).toHaveLength(1);
    const broken = write("broken.json", `["${url}",\n 7]`);
    expect(problems({ args: [DEV_GENESIS, `--static-nodes-file=${broken}`] })).toEqual([
      `Static nodes file ${folder}/broken.json cannot be used: an item is not an enode URL (line 2, column 2) (--static-nodes-file is given on the command line)`,
    ]);
  });

  it("static nodes of the data folder must be valid", () => {
    write("static-nodes.json", "");
    expect(settings({ args: [DEV_GENESIS, "--data-path=."] }).peers?.maintained).toEqual([]);
    write("static-nodes.json", "{}");
    expect(problems({ args: [DEV_GENESIS, "--data-path=."] })).toEqual([
      `Static nodes file ${folder}/static-nodes.json cannot be used: it must be a JSON array of enode URLs`,
    ]);
    write("static-nodes.json", `["enode://${ID}@1.2.3.4:30303"]`);
    expect(settings({ args: [DEV_GENESIS, "--data-path=."] }).peers?.maintained).toMatchObject([
      { host: "1.2.3.4", tcpPort: 30303 },
    ]);
    write("static-nodes.json", "");
  });

  it("bootnodes are maintained peers, by default those of the genesis file, unless discovery is off", () => {
    const url = `enode://${ID}@1.2.3.4:30303`;
    const genesis = JSON.parse(readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8")) as { config: object };
    const named = {
      ...genesis,
      config: { ...genesis.config, discovery: { bootnodes: [url.replace("1.2", "5.6")] } },
    };
    const file = `--genesis-file=${write("named.json", JSON.stringify(named))}`;
    const hosts = (...args: string[]) =>
      settings({ args: [file, ...args] }).peers?.maintained.map(({ host }) => host);
    expect(hosts()).toEqual(["5.6.3.4"]);
    expect(hosts(`--bootnodes=${url}`)).toEqual(["1.2.3.4"]);
    expect(hosts(`--bootnodes=${url}`, "--discovery-enabled=false")).toEqual([]);
    const discovery = (...args: string[]) => settings({ args: [file, ...args] }).peers?.discovery;
    expect(discovery(`--bootnodes=${url}`)?.bootnodes).toMatchObject([{ host: "1.2.3.4", udpPort: 30303 }]);
    expect(discovery("--filter-on-enr-fork-id=false")?.checksForkId).toBe(false);
    expect(discovery("--discovery-enabled=false")).toBeUndefined();
  });

  it("name a list in DNS, by default that of the genesis file, unless discovery is off", () => {
    const url = "enrtree://AKA3AM6LPBYEUDMVNU3BSVQJ5AD45Y7YPOHJLEF6W26QOE4VTUDPE@nodes.example.org";
    const genesis = JSON.parse(readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8")) as { config: object };
    const file = (dns: string): string => {
      const text = JSON.stringify({ ...genesis, config: { ...genesis.config, discovery: { dns } } });
      return `--genesis-file=${write("listed.json", text)}`;
    };
    const list = (...args: string[]) => settings({ args }).peers?.discovery?.dnsList;
    const named = list(file(url), "--Xp2p-dns-discovery-server=10.0.0.53");
    expect(named).toMatchObject({ tree: { domain: "nodes.example.org" }, nameServer: "10.0.0.53" });
    const other = `--discovery-dns-url=${url.replace("nodes", "others")}`;
    expect(list(file(url), other)?.tree.domain).toBe("others.example.org");
    expect(list(DEV_GENESIS)).toBeUndefined();
    expect(list(file(url), "--discovery-enabled=false")).toBeUndefined();
    expect(settings({ args: [file(url), other] }).warnings).toEqual([]);
    expect(settings({ args: [file("nodes.example.org")] }).warnings).toEqual([
      "config.discovery.dns of the genesis file is ignored: expected enrtree://<public key in base32>@<domain>",
    ]);
  });

  it("take the ports of a container's host from the environment, and Kubernetes for none", () => {
    const nat = (environment: Record<string, string>, ...args: string[]) =>
      settings({ args: [DEV_GENESIS, ...args], environment }).peers?.nat;
    const ports = { HOST_PORT_30303: "40404", HOST_PORT_8545: "x", HOST_PORT_1: "70000" };
    expect(nat(ports, "--nat-method=docker")).toEqual({
      method: "DOCKER",
      hostPorts: new Map([[30303, 40404]]),
    });
    expect(nat({ KUBERNETES_SERVICE_HOST: "10.0.0.1" })?.method).toBe("NONE");
    expect(nat({}, "--nat-method=UPNP")?.method).toBe("NONE");
  });

  it("become settings", () => {
    expect(settings({ args: [DEV_GENESIS] }).peers).toEqual({
      host: "0.0.0.0",
      port: 30303,
      advertisedHost: "127.0.0.1",
      nat: { method: "AUTO", hostPorts: new Map() },
      maxInbound: 15,
      hasRandomPriority: false,
      maintained: [],
      discovery: { bootnodes: [], checksForkId: true },
      bannedIds: [],
      subnets: [],
    });
    const args = [
      "--max-peers=9",
      "--remote-connections-limit-enabled=false",
      "--net-restrict=10.0.0.0/8,none",
      `--banned-node-ids=0x${ID}`,
      "--p2p-port=0",
    ];
    expect(settings({ args: [DEV_GENESIS, ...args] })).toMatchObject({
      maxPeers: 9,
      peers: { port: 0, subnets: ["10.0.0.0/8"] },
      warnings: [],
    });
    expect(settings({ args: [DEV_GENESIS, ...args] }).peers?.maxInbound).toBeUndefined();
    expect(settings({ args: [DEV_GENESIS, "--p2p-enabled=false"] }).peers).toBeUndefined();
    expect(settings({ args: [] }).peers).toBeUndefined();
  });
});

describeWithVectors("Besu's lists of static nodes", () => {
  it.each([
    ["valid_static_nodes.json", [], undefined],
    ["valid_hostname_static_nodes.json", ["--Xdns-enabled"], undefined],
    ["valid_hostname_static_nodes.json", [], "host names in it need --Xdns-enabled"],
    ["unknown_hostname_static_nodes.json", [], "host names in it need --Xdns-enabled"],
    ["invalid_static_nodes.json", [], "127.0.0.1:A'."],
    ["invalid_static_nodes_no_listening_port.json", [], "static nodes must have a listening port"],
  ])("%s %j", (file, args, problem) => {
    const name = write("nodes.json", readFileSync(vectorPath("besu-core", "static-nodes", file), "utf8"));
    const found = problems({ args: [DEV_GENESIS, `--static-nodes-file=${name}`, ...args] });
    expect(found).toEqual(problem === undefined ? [] : [expect.stringContaining(problem)]);
  });
});
