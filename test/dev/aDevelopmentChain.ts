import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { createNextBlockView } from "../../src/chain/nextBlockView.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_ADDRESS, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { Development } from "../../src/dev/development.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import type { Database } from "../../src/storage/database.ts";
import { MarkedFolder } from "../../src/storage/developmentMark.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import { openPool } from "../../src/txpool/openPool.ts";
import { aChain } from "../builders/aChain.ts";
import type { ForgetfulDisk } from "../builders/forgetfulDisk.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

/** Far enough in the past that no real clock finds these blocks early. */
export const START_SECONDS = 1_700_000_000;

interface Choices {
  /** The folder and database of an earlier one, which this one goes on with. */
  readonly before?: { readonly dataPath: string; readonly database: Database };
  /** Instead of a database in memory. */
  readonly disk?: Pick<ForgetfulDisk, "database" | "markerFile">;
  /** Called with what a power cut has taken. */
  readonly onUnsyncedLoss?: (what: string) => void;
  readonly isInstant?: boolean;
  /** False for a node whose start has not ended. */
  readonly isBegun?: boolean;
  /** Called when consensus is to stop for good. */
  readonly onStopConsensus?: () => void;
  readonly whyHalted?: () => string | undefined;
  readonly clock?: HandClock;
}

/** The comforts over a real chain and pool in memory, with their mark in a real folder, and a clock that a test advances. */
export async function aDevelopmentChain(choices: Choices = {}) {
  const { before, clock = createHandClock(START_SECONDS * 1000) } = choices;
  const dataPath = before?.dataPath ?? temporaryFolder();
  const database = choices.disk?.database ?? before?.database ?? createMemoryDatabase();
  const node = await aChain({
    genesis: readFileSync(DEV_GENESIS_FILE, "utf8"),
    minGasPriceWei: 0n,
    database,
    ...(choices.disk !== undefined && { markerFile: choices.disk.markerFile }),
    ...(choices.onUnsyncedLoss !== undefined && { onUnsyncedLoss: choices.onUnsyncedLoss }),
    clock,
    builder: DEV_VALIDATOR_ADDRESS,
  });
  const limits = { ...DEFAULT_TX_POOL_LIMITS, admissionFloorWei: 0n };
  const opened = openPool(
    { limits, file: undefined },
    {
      chain: node.chain,
      view: createNextBlockView(node.spec, node.chain, node.world.head, clock),
      recoverSigners: recoverSignersHere,
      clock,
      logger: silentLogger,
    },
  );
  const marked = MarkedFolder.read(dataPath);
  if (!marked.ok) throw new Error(marked.error.message);
  const failures: unknown[] = [];
  const development = new Development({
    dataPath,
    marked: marked.value,
    chain: node.chain,
    pool: opened.pool,
    validator: { address: DEV_VALIDATOR_ADDRESS, privateKey: DEV_VALIDATOR_KEY },
    vanity: () => new Uint8Array(32),
    blockPeriodMs: 1000,
    isInstant: choices.isInstant ?? false,
    clock,
    random: () => 0.5,
    logger: silentLogger,
    stopConsensus: async () => choices.onStopConsensus?.(),
    whyHalted: () => choices.whyHalted?.(),
    onFailure: (error) => failures.push(error),
  });
  opened.admission.answerAfter(() => development.whenMined());
  // The folder is removed after that.
  onTestFinished(async () => {
    // A close that waits for the begin fails its test, and must not hold up the next ones.
    if (choices.isBegun === false) await development.begin();
    await development.close();
  });
  if (choices.isBegun !== false) await development.begin();
  return { ...node, ...opened, development, database, dataPath, clock, failures };
}

/** A chain of another node: the same genesis, and every rule of an import. */
export async function anotherNode(clock: HandClock): Promise<Chain> {
  const { chain } = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), clock });
  return chain;
}
