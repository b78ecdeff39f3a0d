import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { encodeReceipt } from "../../src/types/receipt.ts";
import { aChain } from "../builders/aChain.ts";
import { recordedBlocks } from "../builders/recordedChain.ts";
import { runConfined } from "../cluster/harness/confinedProgram.ts";
import { freePort, rpc, runProgram, temporaryFolder, until } from "../cluster/harness/nodeProcess.ts";
import { generator } from "../storage/random.ts";
import { itIfThorough } from "../thorough.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../vectors.ts";

/** Chains sealed by real Besu validators: votes, epochs, rounds above 0, forks by time. */
const RECORDED_NETWORKS: readonly RecordedNetwork[] = [
  { folder: ["besu-ibft", "net1"] },
  { folder: ["besu-ibft", "net2"] },
  { folder: ["besu-ibft", "net3"] },
  { folder: ["besu-ibft", "net4"] },
  { folder: ["besu-ibft", "prague-25.4.1", "staged"], withoutBls: 61n },
  { folder: ["besu-ibft", "prague-25.4.1", "past"], withoutBls: 263n },
  { folder: ["besu-ibft", "prague-25.4.1", "zero"], withoutBls: 52n },
];

/** The daily run imports some of them; the conformance run imports all of them without the program. */
const NETWORKS =
  process.env["IBEX_RECORDINGS"] === "all"
    ? RECORDED_NETWORKS
    : RECORDED_NETWORKS.filter(({ folder }) => ["net4", "zero"].includes(folder.at(-1) ?? ""));

interface RecordedNetwork {
  readonly folder: readonly string[];
  /** Block that calls a BLS12-381 precompile, which the recorded Besu build lacked: the call consumed all gas. */
  readonly withoutBls?: bigint;
}

/** The program's output and exit code. */
async function ibex(...args: readonly string[]) {
  const program = runProgram(args);
  return { exitCode: await program.exit, output: program.output() };
}

/** Reads the chain of a data folder. */
async function storedChain<T>(dataPath: string, genesis: string, read: (chain: Chain) => T): Promise<T> {
  const database = await openLevelDatabase({ path: join(dataPath, "chain") });
  try {
    return read((await aChain({ genesis: readFileSync(genesis, "utf8"), database })).chain);
  } finally {
    await database.close();
  }
}

/** Recorded facts of a block. */
interface RecordedFacts {
  readonly number: number;
  readonly hash: string;
  readonly stateRoot: string;
  readonly proposer: string;
  readonly round: number;
  readonly validators: readonly string[];
  readonly gasUsed: number | string;
}

function factsOf(chain: Chain, number: number): RecordedFacts {
  const named = chain.headerByNumber(BigInt(number));
  const extra = named && decodeExtraData(named.header.extraData);
  if (named === undefined || extra?.ok !== true) throw new Error(`no block ${number}`);
  const { header, hash } = named;
  const validators = number === 0 ? extra.value.validators : chain.validatorsFor(BigInt(number));
  return {
    number,
    hash: toHex(hash),
    stateRoot: toHex(header.stateRoot),
    proposer: toHex(header.coinbase),
    round: extra.value.round,
    validators: (validators ?? []).map(toHex),
    gasUsed: Number(header.gasUsed),
  };
}

/** Compares every hash, root, proposer, round, validator set and receipt. */
function compareWithRecord(chain: Chain, folder: readonly string[]): void {
  const facts = readVectorJson<RecordedFacts[]>(...folder, "blocks.json");
  const ranges = readVectorJson<{ from: number; to: number; validators: string[] }[]>(
    ...folder,
    "validators-by-block.json",
  );
  const receipts = readVectorJson<Record<string, string[]>>(...folder, "receipts-rlp.json");
  expect(chain.head.header.number).toBe(BigInt(facts.length - 1));
  for (const expected of facts) expect(expected).toMatchObject(factsOf(chain, expected.number));
  for (const { from, to, validators } of ranges)
    for (let number = Math.max(from, 1); number <= to; number++)
      expect(factsOf(chain, number).validators).toEqual(validators);
  for (const [number, expected] of Object.entries(receipts)) {
    const block = chain.blockByNumber(BigInt(number));
    expect(block?.receipts.map((receipt) => toHex(encodeReceipt(receipt)))).toEqual(expected);
  }
}

describeWithVectors("networks recorded from Besu, through the program", () => {
  it.each(NETWORKS.map((network) => [network.folder.slice(1).join("/"), network] as const))(
    "imports %s, agrees with all facts recorded from Besu, and exports the same bytes",
    async (_, { folder, withoutBls }) => {
      const dataPath = temporaryFolder();
      const genesis = vectorPath(...folder, "genesis.json");
      const file = vectorPath(...folder, "chain.rlp");
      const recorded = recordedBlocks(folder);
      const imported = await ibex(
        `--data-path=${dataPath}`,
        `--genesis-file=${genesis}`,
        "blocks",
        "import",
        file,
      );
      const known = withoutBls === undefined ? recorded.length : Number(withoutBls);
      const bytes = recorded.slice(0, known).reduce((sum, { size }) => sum + size, 0);
      if (withoutBls === undefined) {
        expect(imported.exitCode).toBe(0);
      } else {
        expect(imported.exitCode).toBe(1);
        expect(imported.output).toContain(`${file}, byte ${bytes}: block ${withoutBls} (`);
        expect(imported.output).toContain("is refused: gas used ");
      }
      const copy = join(dataPath, "copy.rlp");
      expect((await ibex(`--data-path=${dataPath}`, "blocks", "export", `--to=${copy}`)).exitCode).toBe(0);
      expect(readFileSync(copy).equals(readFileSync(file).subarray(0, bytes))).toBe(true);
      const check = await ibex(`--data-path=${dataPath}`, "database", "check");
      expect(check.output).toContain("The database is sound.");
      if (existsSync(vectorPath(...folder, "validators-by-block.json")))
        await storedChain(dataPath, genesis, (chain) => compareWithRecord(chain, folder));
    },
  );

  it("agrees with the synthetic chain, where votes change the validator set", async () => {
    const folder = ["ibft2", "synthetic-chain"];
    const dataPath = temporaryFolder();
    const genesis = vectorPath(...folder, "genesis.json");
    const file = vectorPath(...folder, "chain.blocks");
    const options = [`--data-path=${dataPath}`, `--genesis-file=${genesis}`];
    expect((await ibex(...options, "blocks", "import", file)).exitCode).toBe(0);
    const { blocks } = readVectorJson<{ blocks: RecordedFacts[] }>(...folder, "expected.json");
    await storedChain(dataPath, genesis, (chain) => {
      for (const expected of blocks) {
        const { gasUsed, ...rest } = factsOf(chain, expected.number);
        expect(expected).toMatchObject(rest);
        expect(Number(expected.gasUsed)).toBe(gasUsed);
      }
    });
  });

  itIfThorough("runs the node afterwards with --run, and answers every receipt as Besu did", async () => {
    const folder = ["besu-ibft", "net2"];
    const port = await freePort();
    const program = runProgram([
      `--data-path=${temporaryFolder()}`,
      "--p2p-port=0",
      `--genesis-file=${vectorPath(...folder, "genesis.json")}`,
      "--revert-reason-enabled",
      "--rpc-http-enabled",
      `--rpc-http-port=${port}`,
      "blocks",
      "import",
      "--run",
      `--from=${vectorPath(...folder, "chain.rlp")}`,
    ]);
    const url = `http://127.0.0.1:${port}`;
    const head = await until(
      () => rpc<string>(url, "eth_blockNumber", []).catch(() => undefined),
      "an answer",
    );
    expect(Number(head)).toBe(717);
    const receipts = readVectorJson<Record<string, unknown>>(...folder, "receipts.json");
    for (const [hash, expected] of Object.entries(receipts))
      expect(await rpc(url, "eth_getTransactionReceipt", [hash])).toEqual(expected);
    program.child.kill("SIGTERM");
    expect(await program.exit).toBe(0);
  });

  itIfThorough("exits with 74 when the disk is full, and continues when there is space again", async () => {
    const folder = ["besu-ibft", "net1"];
    const command = [
      `--data-path=${temporaryFolder()}`,
      `--genesis-file=${vectorPath(...folder, "genesis.json")}`,
      "blocks",
      "import",
      vectorPath(...folder, "chain.rlp"),
    ];
    const full = runConfined(command, { first: "ulimit -f 800" });
    expect(await full.exit, full.output()).toBe(74);
    expect(full.output()).toMatch(/cannot be written: .*ulimit -f/);
    const again = await ibex(...command);
    expect(again.exitCode, again.output).toBe(0);
    expect(again.output).toContain("0x0a47f98130596db33261feda3602d22de50fb208ece129dcbd555feb584d372a");
  });
});

/** How often the import is killed; IBEX_IMPORT_KILLS raises it. */
const KILLS = Number(process.env["IBEX_IMPORT_KILLS"] ?? 3);
const SEED = Number(process.env["IBEX_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

describeWithVectors(`an import that is killed at any moment (IBEX_SEED=${SEED})`, () => {
  itIfThorough(
    `continues from the last durable block, and loses no reported block, ${KILLS} kills`,
    async () => {
      const folder = ["besu-ibft", "net1"];
      const random = generator(SEED);
      const genesis = vectorPath(...folder, "genesis.json");
      const file = vectorPath(...folder, "chain.rlp");
      const run = (dataPath: string) =>
        runProgram([`--data-path=${dataPath}`, `--genesis-file=${genesis}`, "blocks", "import", file]);
      const startMs = performance.now();
      expect(await run(temporaryFolder()).exit).toBe(0);
      const wholeMs = performance.now() - startMs;
      let dataPath = temporaryFolder();
      for (let kill = 0; kill < KILLS; kill++) {
        const program = run(dataPath);
        const timer = setTimeout(() => program.child.kill("SIGKILL"), random.below(Math.ceil(wholeMs)));
        const exitCode = await program.exit;
        clearTimeout(timer);
        expect([0, null], program.output()).toContain(exitCode);
        const isWhole = program.output().includes("import finished");
        if (!isWhole) continue;
        const info = await ibex(`--data-path=${dataPath}`, "database", "info");
        expect(info.output).toContain("head number: 1056\n");
        dataPath = temporaryFolder();
      }
      const last = await ibex(
        `--data-path=${dataPath}`,
        `--genesis-file=${genesis}`,
        "blocks",
        "import",
        file,
      );
      expect(last.exitCode, last.output).toBe(0);
      expect((await ibex(`--data-path=${dataPath}`, "database", "check")).output).toContain(
        "The database is sound.",
      );
      const copy = join(dataPath, "copy.rlp");
      await ibex(`--data-path=${dataPath}`, "blocks", "export", `--to=${copy}`);
      expect(readFileSync(copy).equals(readFileSync(file))).toBe(true);
    },
  );
});
