import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { decodeLastSigned, encodeLastSigned, type LastSignedState } from "../../src/ibft/lastSigned.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { keccak256, ZERO_HASH } from "../../src/primitives/hash.ts";
import { type Hex, toHex } from "../../src/primitives/hex.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { openVoteLog } from "../../src/storage/votes/voteLog.ts";
import type { Digest } from "../../src/types/blockHash.ts";
import { encodeExtraData } from "../../src/types/extraData.ts";
import { accountFromSeed } from "../builders/testAccounts.ts";
import { aCandidate, aGenesisHead } from "../builders/toyChain.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { ibexHere } from "./program.ts";

const KEYS = [1, 2, 3, 4].map(accountFromSeed);
const [SELF, ...OTHERS] = KEYS.map(({ address }) => address) as [Address, Address, Address, Address];
/** After a network stood: the node asked for round 8 of block 1, and saw no block in it. */
const ASKED: LastSignedState = { height: 1n, round: 8, digest: undefined, prepared: undefined };

describe("ibex validator forget-votes", () => {
  it("puts the record aside when all have the same newest block and no block was prepared", async () => {
    const node = await aStoppedValidator(ASKED);
    const { exitCode, output } = await node.forget(`--heads=${node.headsOf(OTHERS)}`);
    expect(output).toContain("The votes of height 1 are forgotten");
    expect(output).toContain("A validator that lies and kept old messages could still make a fork");
    expect(exitCode).toBe(0);
    expect(node.files()).toEqual(["votes.log.height-1"]);
    const copy = await openVoteLog(join(node.dataPath, "votes.log.height-1"));
    onTestFinished(() => copy.close());
    expect(decodeLastSigned(copy.read() ?? new Uint8Array())).toMatchObject({ ok: true, value: ASKED });
  });

  it("asks running validators for their newest block, over JSON-RPC", async () => {
    const node = await aStoppedValidator(ASKED);
    const urls = await Promise.all(OTHERS.map((address) => aRunningValidator(address, node.head)));
    expect((await node.forget(`--heads-from=${urls.join()}`)).exitCode).toBe(0);
    expect(node.files()).toEqual(["votes.log.height-1"]);
  });

  it("refuses, and names, a validator whose head is unknown or another, and says who does not answer", async () => {
    const node = await aStoppedValidator(ASKED);
    const [second, third, fourth] = OTHERS.map((address) => toHex(address));
    const away = { number: "0x1", hash: toHex(keccak256(new Uint8Array(1))) } as const;
    const urls = [await aRunningValidator(OTHERS[1] ?? SELF, away), "http://127.0.0.1:1"];
    const heads = node.headsOf([OTHERS[0] ?? SELF]);
    const { exitCode, errors } = await node.forget(`--heads=${heads}`, `--heads-from=${urls.join()}`);
    expect(exitCode).toBe(1);
    expect(errors).toContain("The vote record of height 1, round 8, is kept:\n");
    expect(errors).toContain(`  ${third}: its newest block is 1 ${away.hash}, ours is 0 ${node.head.hash}\n`);
    expect(errors).toContain(`  ${fourth}: its newest block is not given\n`);
    expect(errors).toContain("  http://127.0.0.1:1 does not tell its address and its newest block");
    expect(errors).not.toContain(`${second}:`);
    expect(node.files()).toEqual(["votes.log", "votes.log.mark"]);
    const forced = await node.forget(`--heads=${heads}`, `--heads-from=${urls.join()}`, "--force");
    expect(forced.exitCode).toBe(0);
    expect(forced.output).toContain(`Overruled by --force: ${fourth}: its newest block is not given\n`);
    expect(node.files()).toEqual(["votes.log.height-1"]);
  });

  it("refuses where a block was voted for, or prepared, or where the chain lags behind the votes", async () => {
    const candidate = aCandidate(aGenesisHead([SELF, ...OTHERS]));
    const signed = { signature: { r: 1n, s: 1n, yParity: 0 }, author: SELF } as const;
    const place = { height: 1n, round: 0, digest: candidate.digest };
    const proposal = { payload: { kind: "proposal", ...place }, ...signed } as const;
    const cases: readonly (readonly [LastSignedState, string])[] = [
      [{ ...ASKED, digest: ZERO_HASH as Digest }, "this node voted for a block in round 8"],
      [
        { ...ASKED, prepared: { candidate, certificate: { proposal, prepares: [] } } },
        `block ${toHex(candidate.hash)} was seen prepared at that height`,
      ],
      [{ ...ASKED, height: 2n }, "it lags behind its own votes and must catch up first"],
    ];
    for (const [record, why] of cases) {
      const node = await aStoppedValidator(record);
      const { exitCode, errors } = await node.forget(`--heads=${node.headsOf(OTHERS)}`);
      expect(errors).toContain(why);
      expect(exitCode).toBe(1);
      expect(node.files()).toEqual(["votes.log", "votes.log.mark"]);
    }
  });

  it("leaves alone what binds nobody", async () => {
    for (const record of [{ ...ASKED, height: 0n }, undefined]) {
      const node = await aStoppedValidator(record);
      const { exitCode, output } = await node.forget();
      expect(output).toContain("it binds nobody, and nothing is changed");
      expect(exitCode).toBe(0);
      expect(node.files()).toEqual(record === undefined ? [] : ["votes.log", "votes.log.mark"]);
    }
  });

  it("refuses with 2 while the node runs, and where there is no validator", async () => {
    const node = await aStoppedValidator(ASKED);
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

  it("refuses a damaged record with 74, and puts it aside when forced", async () => {
    const node = await aStoppedValidator(ASKED);
    const file = join(node.dataPath, "votes.log");
    writeFileSync(file, readFileSync(file).fill(7, 20, 21));
    const { exitCode, errors } = await node.forget(`--heads=${node.headsOf(OTHERS)}`);
    expect(errors).toContain("is damaged");
    expect(exitCode).toBe(74);
    expect((await node.forget("--force")).exitCode).toBe(0);
    expect(node.files()).toEqual(["votes.log.height-1"]);
  });

  it("refuses a record that is whole, but none of ours, with 74, and puts it aside when forced", async () => {
    const node = await aStoppedValidator(ASKED);
    const store = await openVoteLog(join(node.dataPath, "votes.log"));
    await store.write(Uint8Array.of(1, 2, 3));
    await store.close();
    const { exitCode, errors } = await node.forget(`--heads=${node.headsOf(OTHERS)}`);
    expect(errors).toMatch(/votes\.log is unusable: .* --force puts it aside\.\n/);
    expect(exitCode).toBe(74);
    expect((await node.forget("--force")).exitCode).toBe(0);
    expect(node.files()).toEqual(["votes.log.height-1"]);
  });
});

interface HeadOverRpc {
  readonly number: Hex;
  readonly hash: Hex;
}

/** One of four, on the genesis block. */
async function aStoppedValidator(record: LastSignedState | undefined) {
  const dataPath = temporaryFolder();
  const genesisFile = join(temporaryFolder(), "genesis.json");
  writeFileSync(genesisFile, GENESIS);
  writeFileSync(join(dataPath, "key"), toHex(KEYS[0]?.privateKey ?? ZERO_HASH));
  mkdirSync(join(dataPath, "chain"));
  if (record !== undefined) {
    const store = await openVoteLog(join(dataPath, "votes.log"));
    await store.write(encodeLastSigned(record));
    await store.close();
  }
  const options = [`--data-path=${dataPath}`, `--genesis-file=${genesisFile}`];
  const forget = (...words: string[]) => ibexHere(["validator", "forget-votes", ...options, ...words]);
  // The first run makes the genesis block.
  if (record !== undefined) await forget();
  const info = await ibexHere(["database", "info", `--data-path=${dataPath}`]);
  const hash = asHex(/head hash: (0x\w+)/.exec(info.output)?.[1] ?? toHex(ZERO_HASH));
  return {
    dataPath,
    forget,
    head: { number: "0x0", hash } satisfies HeadOverRpc,
    headsOf: (validators: readonly Address[]) =>
      validators.map((validator) => `${toHex(validator)}=0:${hash}`).join(),
    files: () =>
      readdirSync(dataPath)
        .filter((name) => name.startsWith("votes"))
        .sort(),
  };
}

/** As much of one as is asked. */
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

const GENESIS = JSON.stringify({
  config: { chainId: 7, berlinBlock: 0, ibft2: { blockperiodseconds: 1 } },
  nonce: "0x0",
  timestamp: "0x0",
  gasLimit: "0x1fffffffffffff",
  difficulty: "0x1",
  mixHash: "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365",
  coinbase: toHex(asAddress(new Uint8Array(20))),
  extraData: toHex(
    encodeExtraData({
      vanity: new Uint8Array(32),
      validators: KEYS.map(({ address }) => address),
      round: 0,
      seals: [],
    }),
  ),
  alloc: {},
});
