import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { itIfThorough } from "../../thorough.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../../vectors.ts";
import {
  freePort,
  logOf,
  type NodeProcess,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const NET2 = ["besu-ibft", "net2"];
const HEAD = { number: 717, hash: "0x80920654a6770d04acdda8d293003dc9e831c138f799790db39770c7039bb187" };

interface RecordedKey {
  readonly privateKey: string;
  readonly nodeId: string;
  readonly address: string;
}

/** Names in a data folder of Besu 24.7 that are Besu's own (the fact sheet of its operation, section 10). */
const BESU_FILES: Readonly<Record<string, string>> = {
  "DATABASE_METADATA.json": '{"v2":{"format":"FOREST","version":2}}',
  "VERSION_METADATA.json": '{"besuVersion":"24.7.0"}',
  "database/IDENTITY": "d1b6a0c4-8f3f-4f0e-9a55-6d7d0a3f2f11",
  "database/CURRENT": "MANIFEST-000005\n",
  "database/MANIFEST-000005": "the database of Besu",
  "database/LOCK": "",
  "caches/CACHE_METADATA.json": '{"version":3}',
};

/**
 * docs/operating/from-besu.md, step by step, with the keys and the chain of a recorded Besu network: three validators have
 * moved, the fourth one moves in its own folder, and leaves again.
 */
describeWithVectors("a validator that moves from Besu", () => {
  const nodes: NodeProcess[] = [];
  afterAll(() => Promise.all(nodes.map((node) => node.kill())));

  const genesis = `--genesis-file=${vectorPath(...NET2, "genesis.json")}`;

  async function ibex(...args: readonly string[]): Promise<string> {
    const program = runProgram(args);
    expect(await program.exit, program.output()).toBe(0);
    return program.output();
  }

  /** Folders with key and static nodes, and the options that each node needs to be found by the others. */
  async function prepare() {
    const folder = temporaryFolder();
    const keys = readVectorJson<RecordedKey[]>(...NET2, "keys.json");
    const ports = await Promise.all(keys.map(() => freePort()));
    const enodes = keys.map(({ nodeId }, index) => `enode://${nodeId.slice(2)}@127.0.0.1:${ports[index]}`);
    return keys.map(({ privateKey, address }, index) => {
      const dataPath = join(folder, `node${index + 1}`);
      mkdirSync(dataPath);
      writeFileSync(join(dataPath, "key"), privateKey, { mode: 0o600 });
      writeFileSync(join(dataPath, "static-nodes.json"), JSON.stringify(enodes));
      return { dataPath, address, port: ports[index] };
    });
  }

  type Place = Awaited<ReturnType<typeof prepare>>[number];

  async function start({ dataPath, port }: Place): Promise<NodeProcess> {
    const node = await startNodeProcess({
      dataPath,
      options: [
        genesis,
        `--p2p-port=${port}`,
        "--p2p-interface=127.0.0.1",
        "--discovery-enabled=false",
        "--rpc-http-enabled",
        "--rpc-http-api=ETH,NET,WEB3,IBFT",
        "--min-gas-price=0",
      ],
    });
    nodes.push(node);
    return node;
  }

  /** The chain is imported once and copied; all are stopped, so their votes, which are Besu's, are forgotten. */
  async function moveAllButLast(places: readonly Place[]): Promise<void> {
    const [first, ...others] = places.slice(0, -1);
    if (first === undefined) throw new Error("there is no first validator");
    await ibex(
      `--data-path=${first.dataPath}`,
      genesis,
      "blocks",
      "import",
      vectorPath(...NET2, "chain.rlp"),
    );
    for (const { dataPath } of others)
      for (const name of ["chain", "head.log"])
        cpSync(join(first.dataPath, name), join(dataPath, name), { recursive: true });
    for (const { dataPath, address } of [first, ...others]) {
      const heads = places
        .filter((other) => other.address !== address)
        .map((other) => `${other.address}=${HEAD.number}:${HEAD.hash}`);
      await ibex(
        `--data-path=${dataPath}`,
        genesis,
        "validator",
        "forget-votes",
        `--heads=${heads.join(",")}`,
      );
    }
  }

  itIfThorough(
    "takes the key of its folder, is silent until it is safe, makes blocks, and leaves Besu's files as they were",
    async () => {
      const places = await prepare();
      await moveAllButLast(places);
      const last = places[3];
      if (last === undefined) throw new Error("there is no fourth validator");
      const running: NodeProcess[] = [];
      for (const place of places.slice(0, 3)) running.push(await start(place));
      const [other] = running;
      if (other === undefined) throw new Error("no validator runs");
      await heightOf(other, HEAD.number + 2);

      for (const [name, text] of Object.entries(BESU_FILES)) {
        mkdirSync(join(last.dataPath, name, ".."), { recursive: true });
        writeFileSync(join(last.dataPath, name), text);
      }
      const before = new Set(readdirSync(last.dataPath));
      const moved = await start(last);
      expect(await moved.rpc("eth_coinbase")).toBe(last.address);
      const lines = logOf(moved).map(({ message }) => message);
      expect(lines).toContain("the data folder contains a Besu database, which is neither read nor changed");
      await until(
        async () => ((await proposerOfHead(other)) === last.address ? true : undefined),
        "a block of it",
      );
      expect(await until(async () => silenceOf(moved), "silence")).toContain(
        `the validator ${last.address} has no record of its votes`,
      );
      // Others may have its block a moment before it says so itself.
      await until(
        async () => logOf(moved).find(({ message }) => isOfNewBlock(message)),
        "a line about a block of its own",
      );
      const said = logOf(moved).map(({ message }) => message);
      const votesAgain = said.findIndex((message) =>
        message.startsWith("this node proposes and votes again"),
      );
      expect(votesAgain).toBeGreaterThan(0);
      expect(said.findIndex(isOfNewBlock)).toBeGreaterThan(votesAgain);
      expect(await moved.rpc("ibft_status")).toMatchObject({ mode: "validating", silence: null });
      expect(await moved.rpc("eth_getBlockByNumber", ["0x2cd", false])).toMatchObject({ hash: HEAD.hash });

      // The way back: what was promised last is past when another validator has a later block.
      expect(await moved.stop()).toBe(0);
      const info = await ibex(`--data-path=${last.dataPath}`, "database", "info");
      const stoppedAt = Number(/head number: (\d+)/.exec(info)?.[1]);
      expect(stoppedAt).toBeGreaterThan(HEAD.number + 2);
      await heightOf(other, stoppedAt + 2);
      for (const [name, text] of Object.entries(BESU_FILES))
        expect(readFileSync(join(last.dataPath, name), "utf8"), name).toBe(text);
      expect(existsSync(join(last.dataPath, "besu.ports"))).toBe(false);
      const added = readdirSync(last.dataPath).filter((name) => !before.has(name));
      expect(added.filter((name) => !OWN_NAMES.includes(name))).toEqual([]);
    },
  );
});

/** Whether a line is about a block that this validator made after the recording: those that it made before are fetched and told, too. */
function isOfNewBlock(message: string): boolean {
  return Number(/^Produced #(\d+)/.exec(message)?.[1] ?? 0) > HEAD.number;
}

/** What docs/operating/from-besu.md says to remove on the way back; none is a name of Besu's. */
const OWN_NAMES = [
  "block-timing.json",
  "chain",
  "head.log",
  "known-nodes.json",
  "votes.log",
  "votes.log.mark",
  "votes.log.of",
];

async function heightOf(node: NodeProcess, height: number): Promise<void> {
  await until(
    async () => (Number(await node.rpc("eth_blockNumber")) >= height ? true : undefined),
    `block ${height}`,
  );
}

async function proposerOfHead(node: NodeProcess): Promise<string> {
  return (await node.rpc<{ miner: string }>("eth_getBlockByNumber", ["latest", false])).miner;
}

function silenceOf(node: NodeProcess): string | undefined {
  return logOf(node).find(({ message }) => message.includes("no record of its votes"))?.message;
}
