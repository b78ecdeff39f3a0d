import type { BlockProduction } from "../../src/chain/blockProduction.ts";
import type { CandidateSettings } from "../../src/chain/candidates.ts";
import { type Chain, createChain } from "../../src/chain/createChain.ts";
import type { RecoverSenders, RecoverSigners } from "../../src/chain/signerRecovery.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { parseGenesis } from "../../src/chainspec/genesis.ts";
import { type Logger, silentLogger } from "../../src/observability/logger.ts";
import type { AccountContract } from "../../src/permissioning/contract/accountContract.ts";
import { type Clock, systemClock } from "../../src/primitives/clock.ts";
import { recoverAddress } from "../../src/primitives/secp256k1.ts";
import { WorldState } from "../../src/state/worldState.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../src/storage/blocks/blockStore.ts";
import { verifyChain } from "../../src/storage/chainDatabase.ts";
import type { HeadPointer } from "../../src/storage/commitRecord.ts";
import type { Database } from "../../src/storage/database.ts";
import type { HeadMarker, JudgeLostEnd } from "../../src/storage/headMarker.ts";
import type { MarkerFile } from "../../src/storage/markerFile.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { signatureOf, signingHash } from "../../src/types/transactionSignature.ts";
import { createMemoryMarkerFile } from "./memoryMarkerFile.ts";
import { account } from "./testAccounts.ts";

/** What a test may change about the chain it wants. */
export interface ChainChoices {
  readonly genesis: string;
  /** Of the node as it starts, which the base fee is where the genesis file says so. */
  readonly minGasPriceWei?: bigint;
  readonly database?: Database;
  readonly markerFile?: MarkerFile;
  readonly judgeLostEnd?: JudgeLostEnd;
  /** Given for a chain whose writes are not synced. */
  readonly onUnsyncedLoss?: (what: string) => void;
  /** Of a database that was verified before. */
  readonly headMarker?: HeadMarker;
  readonly clock?: Clock;
  readonly production?: Partial<BlockProduction>;
  /** Account that builds blocks. */
  readonly builder?: Uint8Array;
  /** Instead of `builder`; may be changed between blocks. */
  readonly candidates?: CandidateSettings;
  readonly logger?: Logger;
  /** On this thread unless given. */
  readonly recoverSenders?: RecoverSenders;
  readonly recoverSigners?: RecoverSigners;
  /** Decides who may send. */
  readonly accountContract?: (spec: ChainSpec) => AccountContract;
}

/** The real chain over its real stores, in memory unless a database is given. */
export interface TestChain {
  readonly chain: Chain;
  readonly spec: ChainSpec;
  readonly world: WorldState;
  readonly database: Database;
  /** What the database has lost and the chain restores. */
  readonly lost: HeadPointer | undefined;
}

export async function aChain(choices: ChainChoices): Promise<TestChain> {
  const { genesis, minGasPriceWei = 1000n } = choices;
  const parsed = parseGenesis(genesis, "the test's genesis", { consensus: "ibft2", minGasPriceWei });
  if (!parsed.ok) throw new Error(parsed.error.message);
  const database = choices.database ?? createMemoryDatabase();
  const verified = await verifyChain(database, choices.markerFile ?? createMemoryMarkerFile(), choices);
  const { headMarker = verified.headMarker } = choices;
  const { lost } = verified;
  const world = new WorldState({ database });
  const opened = await createChain(
    choices.candidates ?? {
      builder: (choices.builder ?? account(0).address) as Chain["head"]["header"]["coinbase"],
      vanity: new Uint8Array(32),
    },
    {
      spec: parsed.value,
      stores: { database, blocks: new BlockStore(BLOCK_STORE_LIMITS, { database }), world, headMarker },
      clock: choices.clock ?? systemClock,
      recoverSenders: choices.recoverSenders ?? recoverSendersHere,
      ...(choices.recoverSigners !== undefined && { recoverSigners: choices.recoverSigners }),
      production: {
        selectionTimePercent: 75,
        minOccupancyRatio: 0.8,
        maxBlockBytes: Number.POSITIVE_INFINITY,
        targetGasLimit: undefined,
        keepsRevertReasons: false,
        ...choices.production,
      },
      accountContract: choices.accountContract?.(parsed.value),
      logger: choices.logger ?? silentLogger,
    },
  );
  if (!opened.ok) throw new Error(opened.error.message);
  return { chain: opened.value, spec: parsed.value, world, database, lost };
}

export const recoverSendersHere: RecoverSenders = (transactions) =>
  Promise.resolve(
    transactions.map((transaction) => recoverAddress(signingHash(transaction), signatureOf(transaction))),
  );
