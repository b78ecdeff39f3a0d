import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseEnode, showEnode } from "../../src/config/enode.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";
import { askingIn, DEV_GENESIS } from "./asking.ts";

const { settings, problems, write, folder } = askingIn("ibex-peers-");
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
  ])("%s is read, and shown as it was", (url, expected) => {
    const enode = parseEnode(url);
    expect(enode).toMatchObject({ ok: true, value: expected });
    expect(enode.ok && showEnode(enode.value)).toBe(url);
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
      rejection: { message: `Invalid enode URL syntax '${url}'. ${FORM} ${detail}` },
    });
  });
});

describe("options of peers, although there are none yet", () => {
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
    [["--Xdns-update-enabled"], "The --Xdns-update-enabled option needs --Xdns-enabled to be true"],
    [
      ["--static-nodes-file=absent.json"],
      `Static nodes file ${folder}/absent.json does not exist (--static-nodes-file is given on the command line)`,
    ],
    [["--ethstats=me@host"], "Invalid ethstats URL syntax 'me@host'"],
    [["--Xsynchronizer-block-propagation-range=5..1"], "'5..1' is not a range"],
  ])("%j stops the start", (args, problem) => {
    expect(problems({ args: [DEV_GENESIS, ...args] })).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    [
      [`--bootnodes=enode://${ID}@host:30303`, "--Xdns-enabled"],
      [
        "--bootnodes, --Xdns-enabled have no effect in this node: peer-to-peer networking is not part of this version.",
      ],
    ],
    [
      [`--bootnodes=enode://${ID}@1.2.3.4:30303`, "--discovery-enabled=false"],
      ["Discovery disabled: bootnodes will be ignored."],
    ],
    [
      ["--p2p-enabled=false", "--max-peers=3", `--bootnodes=enode://${ID}@1.2.3.4:30303`],
      ["bootnodes, max-peers has been ignored because --p2p-enabled was not defined on the command line."],
    ],
    [
      ["--net-restrict=10.0.0.0/8,fd00::/8", "--p2p-interface=127.0.0.1"],
      [
        "--p2p-interface, --net-restrict have no effect in this node: peer-to-peer networking is not part of this version.",
      ],
    ],
    [
      ["--Xnat-kube-service-name=node", "--nat-method=NONE"],
      [
        "--nat-method has no effect in this node: peer-to-peer networking is not part of this version.",
        "--Xnat-kube-service-name has no effect in this node: --nat-method is neither KUBERNETES nor AUTO.",
      ],
    ],
    [
      ["--ethstats-contact=me"],
      ["ethstats-contact has been ignored because --ethstats was not defined on the command line."],
    ],
    [["--sync-min-peers=3"], ["--sync-min-peers is ignored in FULL sync-mode"]],
  ])("%j says what becomes of it", (args, warnings) => {
    expect(settings({ args: [DEV_GENESIS, ...args] }).warnings).toEqual(warnings);
  });

  it("static nodes of the data folder must make sense, and are said to be passed over", () => {
    write("static-nodes.json", "");
    expect(settings({ args: [DEV_GENESIS, "--data-path=."] }).warnings).toEqual([]);
    write("static-nodes.json", "{}");
    expect(problems({ args: [DEV_GENESIS, "--data-path=."] })).toEqual([
      `Static nodes file ${folder}/static-nodes.json cannot be used: it must be a JSON array of enode URLs`,
    ]);
    write("static-nodes.json", `["enode://${ID}@1.2.3.4:30303"]`);
    expect(settings({ args: [DEV_GENESIS, "--data-path=."] }).warnings).toEqual([
      `The static nodes of ${folder}/static-nodes.json are not called: peer-to-peer networking is not part of this version.`,
    ]);
  });
});

describeWithVectors("the incumbent's lists of static nodes", () => {
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
