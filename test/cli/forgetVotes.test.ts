import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { decodeLastSigned, encodeLastSigned, type LastSignedState } from "../../src/ibft/lastSigned.ts";
import { forgottenAt, nothingAbove } from "../../src/ibft/lostVotes.ts";
import type { Address } from "../../src/primitives/address.ts";
import { keccak256, ZERO_HASH } from "../../src/primitives/hash.ts";
import { type Hex, toHex } from "../../src/primitives/hex.ts";
import { curve } from "../../src/primitives/secp256k1.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { openVoteLog } from "../../src/storage/votes/voteLog.ts";
import type { Digest } from "../../src/types/blockHash.ts";
import { aSealedBlock, FOUR_KEYS, GENESIS_OF_FOUR } from "../builders/fourValidators.ts";
import { aCandidate, aGenesisHead } from "../builders/toyChain.ts";
import { runProgram } from "../cluster/harness/nodeProcess.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { someOf } from "../thorough.ts";
import { ibexHere } from "./program.ts";

const IN_DOUBT: LastSignedState = {
  ...nothingAbove(0n),
  doubt: { reason: "missing", upTo: 2n, untilTimestamp: 9n },
};
const FORGOTTEN = ["votes.log", "votes.log.height-1", "votes.log.mark", "votes.log.of"];
const [SELF, ...OTHERS] = FOUR_KEYS.map(({ address }) => address) as [Address, Address, Address, Address];
/** The state in a stuck network: the node requested round 8 of block 1, and saw no proposal in it. */
const ROUND_CHANGE_SENT: LastSignedState = { height: 1n, round: 8, digest: undefined, prepared: undefined };

describe("ibex validator forget-votes", () => {
  it("moves the vote log aside when all have the same newest block and no block was prepared", async () => {
    const node = await aStoppedValidator(ROUND_CHANGE_SENT);
    const { exitCode, output } = await node.forget(`--heads=${node.headsOf(OTHERS)}`);
    expect(output).toContain("The votes of height 1 are forgotten");
    expect(await node.record()).toEqual(forgottenAt(1n));
    expect(output).toContain("Block 1 is the one to be decided again; this node's newest is block 0.");
    expect(output).toContain("A Byzantine validator that kept old messages could still cause a fork");
    expect(exitCode).toBe(0);
    expect(node.files()).toEqual(FORGOTTEN);
    const copy = await openVoteLog(join(node.dataPath, "votes.log.height-1"));
    onTestFinished(() => copy.close());
    expect(decodeLastSigned(copy.read() ?? new Uint8Array())).toMatchObject({
      ok: true,
      value: ROUND_CHANGE_SENT,
    });
  });

  it("leaves no record that another validator of this folder could vote anew by, when it is killed", async () => {
    const node = await aStoppedValidator(ROUND_CHANGE_SENT);
    mkdirSync(join(node.dataPath, "votes.log.of.new"));
    expect((await node.forget(`--heads=${node.headsOf(OTHERS)}`)).exitCode).toBe(74);
    expect(node.files()).toEqual(["votes.log.height-1", "votes.log.of.new"]);
  });

  it("knows itself by the key of the remote signer", async () => {
    const node = await aStoppedValidator(ROUND_CHANGE_SENT);
    const [other = SELF, ...rest] = OTHERS;
    const key = FOUR_KEYS.find(({ address }) => address === other);
    const options = [
      "--validator-signer-url=http://signer:9000",
      `--validator-signer-public-key=${toHex(curve.publicKey(key?.privateKey ?? new Uint8Array()))}`,
    ];
    const { errors } = await node.forget(...options, `--heads=${node.headsOf(rest)}`);
    expect(errors).toContain(`  ${toHex(SELF)}: its newest block is not given\n`);
    expect((await node.forget(...options, `--heads=${node.headsOf([SELF, ...rest])}`)).exitCode).toBe(0);
  });

  it("fetches the newest blocks of running validators over JSON-RPC", async () => {
    const node = await aStoppedValidator(ROUND_CHANGE_SENT);
    const urls = await Promise.all(OTHERS.map((address) => aRunningValidator(address, node.head)));
    expect((await node.forget(`--heads-from=${urls.join()}`)).exitCode).toBe(0);
    expect(node.files()).toEqual(FORGOTTEN);
  });

  it("refuses when a validator's head is unknown or differs, and names it and any URL that does not answer", async () => {
    const node = await aStoppedValidator(ROUND_CHANGE_SENT);
    const [second, third, fourth] = OTHERS.map((address) => toHex(address));
    const ahead = { number: "0x1", hash: toHex(keccak256(new Uint8Array(1))) } as const;
    const urls = [await aRunningValidator(OTHERS[1] ?? SELF, ahead), "http://127.0.0.1:1"];
    const heads = node.headsOf([OTHERS[0] ?? SELF]);
    const { exitCode, errors } = await node.forget(`--heads=${heads}`, `--heads-from=${urls.join()}`);
    expect(exitCode).toBe(1);
    expect(errors).toContain("The vote log of height 1, round 8, is kept:\n");
    expect(errors).toContain(
      `  ${third}: its newest block is 1 ${ahead.hash}, ours is 0 ${node.head.hash}\n`,
    );
    expect(errors).toContain(`  ${fourth}: its newest block is not given\n`);
    expect(errors).toContain("  http://127.0.0.1:1 does not answer with its address and newest block");
    expect(errors).not.toContain(`${second}:`);
    expect(node.files()).toEqual(["votes.log", "votes.log.mark"]);
    const forced = await node.forget(`--heads=${heads}`, `--heads-from=${urls.join()}`, "--force");
    expect(forced.exitCode).toBe(0);
    expect(forced.output).toContain(`Overruled by --force: ${fourth}: its newest block is not given\n`);
    expect(node.files()).toEqual(FORGOTTEN);
  });

  it("reads no more of an answer than a block can have", async () => {
    const node = await aStoppedValidator(ROUND_CHANGE_SENT);
    const server = createServer((_request, response) => {
      const piece = Buffer.alloc(1024 * 1024, " ");
      const send = () => {
        while (response.write(piece));
        response.once("drain", send);
      };
      send();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { exitCode, errors } = await node.forget(`--heads-from=${url}`);
    expect(exitCode).toBe(1);
    expect(errors).toContain("the answer has more than 33554432 bytes");
  });

  it("refuses when a block was voted for or prepared, or when the chain lags behind the votes", async () => {
    const candidate = aCandidate(aGenesisHead([SELF, ...OTHERS]));
    const signed = { signature: { r: 1n, s: 1n, yParity: 0 }, author: SELF } as const;
    const roundId = { height: 1n, round: 0, digest: candidate.digest };
    const proposal = { payload: { kind: "proposal", ...roundId }, ...signed } as const;
    const cases: readonly (readonly [LastSignedState, string])[] = [
      [{ ...ROUND_CHANGE_SENT, digest: ZERO_HASH as Digest }, "this node voted for a block in round 8"],
      [
        { ...ROUND_CHANGE_SENT, prepared: { candidate, certificate: { proposal, prepares: [] } } },
        `block ${toHex(candidate.hash)} was seen prepared at that height`,
      ],
      [{ ...ROUND_CHANGE_SENT, height: 2n }, "it lags behind its own votes and must catch up first"],
    ];
    for (const [record, why] of cases) {
      const node = await aStoppedValidator(record);
      const { exitCode, errors } = await node.forget(`--heads=${node.headsOf(OTHERS)}`);
      expect(errors).toContain(why);
      expect(exitCode).toBe(1);
      expect(node.files()).toEqual(["votes.log", "votes.log.mark"]);
    }
  });

  it("changes nothing when the vote log is absent or of an old height", async () => {
    for (const record of [{ ...ROUND_CHANGE_SENT, height: 0n }, undefined]) {
      const node = await aStoppedValidator(record);
      const { exitCode, output } = await node.forget();
      expect(output).toContain("there is nothing to forget, and nothing is changed");
      expect(exitCode).toBe(0);
      expect(node.files()).toEqual(record === undefined ? [] : ["votes.log", "votes.log.mark"]);
    }
  });

  it.each(
    someOf<[string, LastSignedState | undefined]>([
      ["there is no record", undefined],
      ["the record is in doubt", IN_DOUBT],
    ]),
  )(
    "lets a validator vote again whose votes are lost, where all are stopped with the same block: %s",
    async (_, record) => {
      const node = await aStoppedValidator(record, 1);
      const running = await aRunningValidator(OTHERS[0] ?? SELF, node.head);
      const refused = await node.forget(
        `--heads=${node.headsOf(OTHERS.slice(1))}`,
        `--heads-from=${running}`,
      );
      expect(refused.exitCode).toBe(1);
      expect(refused.errors).toContain("The votes of this node are lost, and it stays silent at height 2:\n");
      expect(refused.errors).toContain(
        `  ${toHex(OTHERS[0] ?? SELF)}: runs, and may hold votes that this node has lost`,
      );
      const incomplete = await node.forget(`--heads=${node.headsOf(OTHERS.slice(1))}`);
      expect(incomplete.errors).toContain(`  ${toHex(OTHERS[0] ?? SELF)}: its newest block is not given\n`);
      expect(incomplete.exitCode).toBe(1);
      const { exitCode, output } = await node.forget(`--heads=${node.headsOf(OTHERS)}`);
      expect(output).toContain("The votes of height 2 are forgotten");
      expect(exitCode).toBe(0);
      expect(await node.record()).toEqual(forgottenAt(2n));
    },
  );

  it("refuses with 2 while the node runs, and in a folder without a validator", async () => {
    const node = await aStoppedValidator(ROUND_CHANGE_SENT);
    await node.forget();
    const running = await openLevelDatabase({ path: join(node.dataPath, "chain") });
    const { exitCode, errors } = await node.forget("--force");
    await running.close();
    expect(errors).toContain("Another node is using this data folder");
    expect(exitCode).toBe(2);
    expect(node.files()).toEqual(["votes.log", "votes.log.mark"]);
    const absent = join(temporaryFolder(), "absent");
    const elsewhere = await ibexHere(["validator", "forget-votes", `--data-path=${absent}`]);
    expect(elsewhere.exitCode).toBe(2);
    expect(existsSync(absent)).toBe(false);
  });

  it("refuses a damaged vote log with 74, and moves it aside when forced", async () => {
    const node = await aStoppedValidator(ROUND_CHANGE_SENT);
    const file = join(node.dataPath, "votes.log");
    writeFileSync(file, readFileSync(file).fill(7, 20, 21));
    const { exitCode, errors } = await node.forget(`--heads=${node.headsOf(OTHERS)}`);
    expect(errors).toContain("is damaged");
    expect(exitCode).toBe(74);
    expect((await node.forget("--force")).exitCode).toBe(0);
    expect(node.files()).toEqual(FORGOTTEN);
  });

  it("refuses an intact but undecodable vote log with 74, and moves it aside when forced", async () => {
    const node = await aStoppedValidator(ROUND_CHANGE_SENT);
    const store = await openVoteLog(join(node.dataPath, "votes.log"));
    await store.write(Uint8Array.of(1, 2, 3));
    await store.close();
    const { exitCode, errors } = await node.forget(`--heads=${node.headsOf(OTHERS)}`);
    expect(errors).toMatch(/votes\.log is unusable: .* --force moves it aside\.\n/);
    expect(exitCode).toBe(74);
    expect((await node.forget("--force")).exitCode).toBe(0);
    expect(node.files()).toEqual(FORGOTTEN);
  });
});

interface HeadOverRpc {
  readonly number: Hex;
  readonly hash: Hex;
}

/** One of four validators, on the genesis block or on block 1. */
async function aStoppedValidator(record: LastSignedState | undefined, blocks: 0 | 1 = 0) {
  const dataPath = temporaryFolder();
  const genesisFile = join(temporaryFolder(), "genesis.json");
  writeFileSync(genesisFile, GENESIS_OF_FOUR);
  writeFileSync(join(dataPath, "key"), toHex(FOUR_KEYS[0]?.privateKey ?? ZERO_HASH));
  mkdirSync(join(dataPath, "chain"));
  if (record !== undefined) {
    const store = await openVoteLog(join(dataPath, "votes.log"));
    await store.write(encodeLastSigned(record));
    await store.close();
  }
  const options = [`--data-path=${dataPath}`, `--genesis-file=${genesisFile}`];
  const forget = (...words: string[]) => ibexHere(["validator", "forget-votes", ...options, ...words]);
  if (blocks === 1) {
    const file = join(temporaryFolder(), "blocks");
    writeFileSync(file, await aSealedBlock());
    expect(await runProgram([...options, "blocks", "import", `--from=${file}`]).exit).toBe(0);
  }
  // The first run stores the genesis block.
  if (record !== undefined) await forget();
  const info = await ibexHere(["database", "info", `--data-path=${dataPath}`]);
  const hash = asHex(/head hash: (0x\w+)/.exec(info.output)?.[1] ?? toHex(ZERO_HASH));
  return {
    dataPath,
    forget,
    head: { number: `0x${blocks}`, hash } satisfies HeadOverRpc,
    headsOf: (validators: readonly Address[]) =>
      validators.map((validator) => `${toHex(validator)}=${blocks}:${hash}`).join(),
    record: async () => {
      const store = await openVoteLog(join(dataPath, "votes.log"));
      const decoded = decodeLastSigned(store.read() ?? new Uint8Array());
      await store.close();
      return decoded.ok ? decoded.value : decoded.error;
    },
    files: () =>
      readdirSync(dataPath)
        .filter((name) => name.startsWith("votes"))
        .sort(),
  };
}

/** A server with only the JSON-RPC methods that are requested. */
async function aRunningValidator(address: Address, head: HeadOverRpc): Promise<string> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      const result = body.includes("eth_coinbase") ? toHex(address) : head;
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const asHex = (text: string): Hex => text as Hex;
