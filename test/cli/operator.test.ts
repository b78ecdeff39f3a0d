import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseGenesis } from "../../src/chainspec/genesis.ts";
import { compareBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPublicKey, curve } from "../../src/primitives/secp256k1.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { accountFromSeed } from "../builders/testAccounts.ts";
import { freePort, rpc, runProgram, until } from "../cluster/harness/nodeProcess.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { itIfThorough } from "../thorough.ts";
import { ibexHere } from "./program.ts";

/** A genesis with a number above 2^53, and a funded account. */
const GENESIS = `{
  "config": { "chainId": 900719925474099267, "berlinBlock": 0, "ibft2": { "blockperiodseconds": 1, "requesttimeoutseconds": 4 } },
  "gasLimit": "0x1fffffffffffff", "difficulty": "0x1", "timestamp": "0x0", "nonce": "0x0",
  "mixHash": "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365",
  "coinbase": "0x0000000000000000000000000000000000000000",
  "alloc": { "fe3b557e8fb62b89f4916b721be55ceb828dbd73": { "balance": "0xad78ebc5ac6200000" } }
}`;

function configWith(nodes: unknown, genesis = GENESIS): string {
  return `{ "genesis": ${genesis}, "blockchain": { "nodes": ${JSON.stringify(nodes)} } }`;
}

function generate(folder: string, config: string, ...options: readonly string[]) {
  writeFileSync(join(folder, "config.json"), config);
  return ibexHere(
    [
      "--logging=OFF",
      "operator",
      "generate-blockchain-config",
      "--config-file=config.json",
      "--to=network",
      ...options,
    ],
    { workingDirectory: folder },
  );
}

describe("ibex operator generate-blockchain-config", () => {
  it("generates keys, and a genesis file with their sorted addresses and everything else unchanged", async () => {
    const folder = temporaryFolder();
    const made = await generate(folder, configWith({ generate: true, count: 4 }));
    expect(made).toEqual({ exitCode: 0, output: "", errors: "" });
    const keys = join(folder, "network", "keys");
    const addresses = readdirSync(keys).sort();
    expect(addresses).toHaveLength(4);
    for (const address of addresses) {
      const publicKey = readFileSync(join(keys, address, "key.pub"), "utf8");
      const privateKey = readFileSync(join(keys, address, "key.priv"), "utf8");
      expect(publicKey).toBe(toHex(curve.publicKey(hexToBytes(privateKey))));
      expect(address).toBe(toHex(addressOfPublicKey(hexToBytes(publicKey))));
      expect(statSync(join(keys, address, "key.priv")).mode & 0o777).toBe(0o600);
    }
    const text = readFileSync(join(folder, "network", "genesis.json"), "utf8");
    expect(text).toMatch(/^ {4}"chainId": 900719925474099267,$/m);
    const genesis = parseGenesis(text, "the genesis file");
    if (!genesis.ok) throw new Error(genesis.error.message);
    const extra = decodeExtraData(genesis.value.genesis.header.extraData);
    expect(extra.ok && extra.value.validators.map(toHex)).toEqual(addresses);
    expect(genesis.value.genesis.alloc).toHaveLength(1);
  });

  it("accepts given public keys, and other file names", async () => {
    const folder = temporaryFolder();
    const accounts = [accountFromSeed(1), accountFromSeed(2)];
    const keys = accounts.map(({ privateKey }) => toHex(curve.publicKey(privateKey)));
    const options = ["--genesis-file-name=g.json", "--public-key-file-name=p"];
    expect((await generate(folder, configWith({ keys }), ...options)).exitCode).toBe(0);
    const sorted = accounts.map(({ address }) => address).sort(compareBytes);
    expect(readdirSync(join(folder, "network", "keys")).sort()).toEqual(sorted.map(toHex));
    for (const address of sorted)
      expect(readdirSync(join(folder, "network", "keys", toHex(address)))).toEqual(["p"]);
    expect(readFileSync(join(folder, "network", "g.json"), "utf8")).toContain(
      sorted.map((address) => `94${toHex(address).slice(2)}`).join(""),
    );
  });

  it("replaces existing extra data, in any case of the key", async () => {
    const folder = temporaryFolder();
    const genesis = GENESIS.replace('"nonce"', '"ExtraData": "0x00", "nonce"');
    expect((await generate(folder, configWith({ generate: true, count: 1 }, genesis))).exitCode).toBe(0);
    const text = readFileSync(join(folder, "network", "genesis.json"), "utf8");
    expect(text.match(/extradata/gi)).toHaveLength(1);
  });

  it.each<[string, string, readonly string[], string]>([
    ["no JSON", "{", [], "The configuration file is not JSON: "],
    ["no genesis", "{}", [], 'The configuration file has no "genesis" section.'],
    [
      "no config",
      configWith({ generate: true, count: 1 }, "{}"),
      [],
      'The genesis section has no "config" section.',
    ],
    [
      "Clique",
      configWith({ generate: true, count: 1 }, GENESIS.replace('"ibft2"', '"clique"')),
      [],
      "No node could start with this genesis: Unable to load genesis file. config.clique: Clique is not supported. An ibft2 section is expected",
    ],
    [
      "QBFT",
      configWith({ generate: true, count: 1 }, GENESIS.replace('"ibft2"', '"qbft"')),
      [],
      "No node could start with this genesis: Unable to load genesis file. config.qbft: QBFT is not supported, nor is a migration to it.",
    ],
    [
      "an unknown consensus",
      configWith({ generate: true, count: 1 }, GENESIS.replace('"ibft2"', '"hotstuff"')),
      [],
      "No node could start with this genesis: Unable to load genesis file. config has no supported consensus: an ibft2 section is expected",
    ],
    [
      "a fork that no node here knows",
      configWith({ generate: true, count: 1 }, GENESIS.replace('"berlinBlock": 0', '"osakaTime": 0')),
      [],
      "No node could start with this genesis: ",
    ],
    [
      "hosts for some nodes only",
      configWith({ generate: true, count: 2 }),
      ["--followers=1", "--hosts=10.0.0.1,10.0.0.2"],
      "2 hosts were given for 3 nodes; one, or one for each, is expected.",
    ],
    [
      "one port for two nodes",
      configWith({ generate: true, count: 2 }),
      ["--hosts=10.0.0.1:4000,10.0.0.1:4000"],
      "validator-1 and validator-2 would have the same port 4000 on 10.0.0.1.",
    ],
    [
      "what is no host",
      configWith({ generate: true, count: 1 }),
      ["--hosts=http://10.0.0.1"],
      "'http://10.0.0.1' is not a host, or a host and a port.",
    ],
    [
      "no nodes",
      `{"genesis": ${GENESIS}}`,
      [],
      'The configuration file has no "nodes" in a "blockchain" section.',
    ],
    ["no count", configWith({ generate: true }), [], 'The number of nodes to generate ("count") must be'],
    ["no keys", configWith({ generate: false }), [], '"nodes" needs either "generate": true'],
    ["a bad key", configWith({ keys: ["0x12"] }), [], 'Key 0 of "keys" is not a public key'],
    [
      "an invalid genesis",
      configWith({ generate: true, count: 1 }, GENESIS.replace('"difficulty": "0x1",', "")),
      [],
      "No node could start with this genesis: ",
    ],
    [
      "one name for two files",
      configWith({ generate: true, count: 1 }),
      ["--private-key-file-name=x", "--public-key-file-name=x"],
      "Output file paths must be unique.",
    ],
  ])("refuses %s and writes nothing", async (_, config, options, message) => {
    const folder = temporaryFolder();
    const refused = await generate(folder, config, ...options);
    expect(refused).toMatchObject({ exitCode: 2, output: "" });
    expect(refused.errors).toContain(message);
    expect(existsSync(join(folder, "network"))).toBe(false);
  });

  it("writes a configuration, static nodes and a unit for each node, which a node accepts as they are", async () => {
    const folder = temporaryFolder();
    const options = ["--followers=1", "--hosts=10.0.0.1,10.0.0.2:4000,[fd00::3],node-4.example"];
    expect((await generate(folder, configWith({ generate: true, count: 3 }), ...options)).exitCode).toBe(0);
    const nodes = join(folder, "network", "nodes");
    expect(readdirSync(nodes).sort()).toEqual(["follower-1", "validator-1", "validator-2", "validator-3"]);
    const addresses = readdirSync(join(folder, "network", "keys")).sort();
    for (const name of readdirSync(nodes)) {
      expect(readdirSync(join(nodes, name)).sort()).toEqual([
        `ibex-${name}.service`,
        "node.toml",
        "static-nodes.json",
      ]);
      const enodes: string[] = JSON.parse(readFileSync(join(nodes, name, "static-nodes.json"), "utf8"));
      expect(enodes.map((enode) => enode.split("@")[1])).toEqual([
        "10.0.0.1:30303",
        "10.0.0.2:4000",
        "[fd00::3]:30303",
      ]);
      for (const [index, enode] of enodes.entries())
        expect(`0x${enode.slice("enode://".length).split("@")[0]}`).toBe(
          readFileSync(join(folder, "network", "keys", addresses[index] ?? "", "key.pub"), "utf8"),
        );
      const checked = await ibexHere(["validate-config", "--config-file=node.toml"], {
        workingDirectory: join(nodes, name),
      });
      expect(checked).toMatchObject({ exitCode: 0, errors: "" });
    }
    const second = readFileSync(join(nodes, "validator-2", "node.toml"), "utf8");
    expect(second).toContain(`keys/${addresses[1]}/key.priv`);
    expect(second).toContain("p2p-port = 4000\n");
    expect(second).not.toContain("min-gas-price");
    const unit = readFileSync(join(nodes, "validator-2", "ibex-validator-2.service"), "utf8");
    expect(unit).toContain(`LoadCredential=key:/etc/ibex/keys/${addresses[1]}/key.priv\n`);
    expect(unit).toContain("StateDirectory=ibex-validator-2\n");
    expect(unit).toContain("WorkingDirectory=/etc/ibex/nodes/validator-2\n");
  });

  it("gives nodes on one host ports of their own", async () => {
    const folder = temporaryFolder();
    const options = ["--followers=1", "--hosts=127.0.0.1:4000"];
    expect((await generate(folder, configWith({ generate: true, count: 2 }), ...options)).exitCode).toBe(0);
    const ports = ["validator-1", "validator-2", "follower-1"].map((name) =>
      [
        ...readFileSync(join(folder, "network", "nodes", name, "node.toml"), "utf8").matchAll(
          /port = (\d+)/g,
        ),
      ].map(([, port]) => Number(port)),
    );
    expect(ports).toEqual([
      [4000, 8545, 9545],
      [4001, 8547, 9546],
      [4002, 8549, 8550, 9547],
    ]);
    const other = temporaryFolder();
    const named = "--hosts=10.0.0.1,10.0.0.1,10.0.0.2";
    expect((await generate(other, configWith({ generate: true, count: 3 }), named)).exitCode).toBe(0);
    const enodes = readFileSync(join(other, "network/nodes/validator-1/static-nodes.json"), "utf8");
    expect([...enodes.matchAll(/@([^"]*)/g)].map(([, place]) => place)).toEqual([
      "10.0.0.1:30303",
      "10.0.0.1:30304",
      "10.0.0.2:30303",
    ]);
  });

  it.each([
    ['"londonBlock": 0, "zeroBaseFee": true', 0],
    ['"londonBlock": 0', 7],
  ])("asks on all nodes for no more than the base fee allows clients to offer: %s", async (fields, floor) => {
    const folder = temporaryFolder();
    const genesis = GENESIS.replace('"berlinBlock": 0', `"berlinBlock": 0, ${fields}`);
    const made = await generate(
      folder,
      configWith({ generate: true, count: 1 }, genesis),
      "--followers=1",
      "--hosts=127.0.0.1",
    );
    expect(made).toMatchObject({ exitCode: 0 });
    for (const name of ["validator-1", "follower-1"]) {
      const nodeFolder = join(folder, "network", "nodes", name);
      expect(readFileSync(join(nodeFolder, "node.toml"), "utf8")).toContain(`min-gas-price = ${floor}\n`);
      const checked = await ibexHere(["validate-config", "--config-file=node.toml"], {
        workingDirectory: nodeFolder,
      });
      expect(checked).toMatchObject({ exitCode: 0, errors: "" });
    }
  });

  it("writes one compose file, in which each node has its name, its configuration and its own data", async () => {
    const folder = temporaryFolder();
    expect((await generate(folder, configWith({ generate: true, count: 2 }), "--followers=1")).exitCode).toBe(
      0,
    );
    const { services, volumes } = parse(readFileSync(join(folder, "network", "compose.yaml"), "utf8")) as {
      services: Record<string, Record<string, unknown>>;
      volumes: Record<string, null>;
    };
    expect(Object.keys(services)).toEqual(["validator-1", "validator-2", "follower-1"]);
    expect(Object.keys(volumes)).toEqual(Object.keys(services));
    for (const [name, service] of Object.entries(services))
      expect(service).toMatchObject({
        working_dir: `/network/nodes/${name}`,
        volumes: [".:/network:ro", `${name}:/data`],
        read_only: true,
      });
    const enodes = readFileSync(join(folder, "network", "nodes", "follower-1", "static-nodes.json"), "utf8");
    expect(enodes).toContain("@validator-1:30303");
  });

  it("names no key of a validator whose public key alone was given", async () => {
    const folder = temporaryFolder();
    const keys = [toHex(curve.publicKey(accountFromSeed(1).privateKey))];
    expect((await generate(folder, configWith({ keys }))).exitCode).toBe(0);
    const node = join(folder, "network", "nodes", "validator-1");
    expect(readFileSync(join(node, "node.toml"), "utf8")).not.toContain("node-private-key-file");
    expect(readFileSync(join(node, "ibex-validator-1.service"), "utf8")).not.toContain("LoadCredential");
  });

  it("writes to an empty folder only", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "network"));
    const config = configWith({ generate: true, count: 1 });
    expect((await generate(folder, config)).exitCode).toBe(0);
    const again = await generate(folder, config);
    expect(again.exitCode).toBe(2);
    expect(again.errors).toMatch(/^Output directory already exists\.\n/);
    const missing = await ibexHere(["operator", "generate-blockchain-config"]);
    expect(missing.errors).toMatch(/^Missing required options: '--config-file=<FILE>', '--to=<DIRECTORY>'\n/);
  });

  itIfThorough("generates a network of one validator that makes blocks", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "config.json"), configWith({ generate: true, count: 1 }));
    const made = runProgram(
      ["operator", "generate-blockchain-config", "--config-file=config.json", "--to=network"],
      folder,
    );
    expect(await made.exit).toBe(0);
    expect(made.output()).toContain("Generating 1 nodes keys.");
    const [address = ""] = readdirSync(join(folder, "network", "keys"));
    const port = await freePort();
    const node = runProgram(
      [
        "--data-path=node",
        "--genesis-file=network/genesis.json",
        "--p2p-port=0",
        `--node-private-key-file=network/keys/${address}/key.priv`,
        "--rpc-http-enabled",
        `--rpc-http-port=${port}`,
      ],
      folder,
    );
    const url = `http://127.0.0.1:${port}`;
    const fetchSecond = () => rpc<{ miner: string } | null>(url, "eth_getBlockByNumber", ["0x2", false]);
    const second = await until(
      async () => (await fetchSecond().catch(() => undefined)) ?? undefined,
      "a second block",
    );
    expect(second.miner).toBe(address);
    node.child.kill("SIGTERM");
    expect(await node.exit).toBe(0);
  });
});
