import type { TransactionSupply } from "../chain/blockExecution.ts";
import type { Chain } from "../chain/createChain.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { proposerOf } from "../ibft/validatorSet.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { equalBytes, includesBytes } from "../primitives/hex.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { recoverAddress, type Signature } from "../primitives/secp256k1.ts";
import { DamagedData, DiskError } from "../storage/database.ts";
import type { VoteLog } from "../storage/votes/voteLog.ts";
import type { NamedHeader } from "../types/block.ts";
import { type Digest, sealDigest } from "../types/blockHash.ts";
import { decodeExtraData } from "../types/extraData.ts";
import { declareConsensusMetrics, showConsensus } from "./consensusMetrics.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { SignedTimes } from "./monitor/signedTimes.ts";
import type {
  CandidateBuilder,
  CandidateChecker,
  Committer,
  Outbox,
  OwnSeals,
  RemoteSigner,
} from "./ports.ts";

export interface ChainConsensusParts {
  readonly spec: ChainSpec;
  readonly chain: Chain;
  readonly pool: TransactionSupply;
  /** Our address, and what signs for it: the remote signer or, without one, the key. */
  readonly validator: {
    readonly address: Address;
    readonly privateKey: Uint8Array;
    readonly signer?: RemoteSigner | undefined;
  };
  /** Sends our messages. */
  readonly outbox: Outbox;
  /** Only its newest record is read. */
  readonly voteLog: Pick<VoteLog, "read" | "write">;
  readonly clock: Clock;
  readonly signedTimes: SignedTimes;
  readonly logger: Logger;
  /** Undefined when metrics are off. */
  readonly metrics?: Metrics | undefined;
  readonly onFailure: (error: unknown) => void;
  /** Called when building or validating a block of this number begins. */
  readonly onBlockStarted: (number: bigint) => void;
}

/** Connects consensus with the chain: building, validating and committing blocks, and head changes. */
export function connectConsensus(parts: ChainConsensusParts): Engine {
  const { spec, chain, validator, outbox, voteLog, clock, signedTimes, logger, metrics, onFailure } = parts;
  const fail = (error: unknown): void => engine.fail(error);
  const engine = createEngine(
    {
      schedule: spec.ibft,
      ...(validator.signer === undefined
        ? { privateKey: validator.privateKey }
        : { self: validator.address }),
    },
    {
      signer: validator.signer,
      builder: builderOn(parts, fail),
      checker: checkerOn(parts, fail),
      committer: committerOn(parts, fail),
      ownSeals: ownSealsOn(parts),
      voteLog,
      outbox,
      clock,
      signedTimes,
      logger,
      metrics: metrics === undefined ? undefined : declareConsensusMetrics(metrics),
      onFailure,
    },
  );
  if (metrics !== undefined)
    showConsensus(metrics, { self: validator.address, nowMs: clock.nowMs }, engine.status);
  chain.onHeadChanged("consensus", ({ head }) => {
    try {
      engine.headAdvanced({ ...head, tally: chain.tallyAfter(head) });
    } catch (error) {
      engine.fail(error);
    }
  });
  return engine;
}

/** Stops consensus because of an error. */
type Fail = (error: unknown) => void;

function builderOn(
  { chain, pool, logger, onBlockStarted }: ChainConsensusParts,
  fail: Fail,
): CandidateBuilder {
  return {
    async build(request) {
      const number = request.parent.header.number + 1n;
      onBlockStarted(number);
      const built = await failOnDiskError(chain.build(request, pool), fail);
      if (built.ok) return built.value;
      const { code, message } = built.error;
      logger.warn(
        { number, round: request.round, code, message },
        "no block could be built; the round will time out",
      );
      return undefined;
    },
  };
}

/** Judges candidates by the chain's rules. */
export function checkerOn(
  {
    chain,
    clock,
    logger,
    onBlockStarted,
  }: Pick<ChainConsensusParts, "chain" | "clock" | "logger" | "onBlockStarted">,
  fail: Fail,
): CandidateChecker {
  return {
    async check(candidate, signal) {
      const { header, hash, extra } = candidate;
      const { number } = header;
      onBlockStarted(number);
      const startedMs = clock.nowMs();
      const checked = await failOnDiskError(chain.check(candidate, signal), fail);
      if (checked.ok) return true;
      if (checked.error.code === "validationStopped") {
        const fields = { number, round: extra.round, hash, coinbase: header.coinbase };
        const tookMs = Math.round(clock.nowMs() - startedMs);
        logger.warn(
          { ...fields, tookMs },
          "a proposed block could not be validated before its round was over",
        );
        return undefined;
      }
      if (checked.error.code === "executionFailed") {
        logger.error(
          { number, hash, ...checked.error },
          "a proposed block could not be executed: this node does not vote on it",
        );
        return undefined;
      }
      // The block of this height was imported from peers during the validation.
      if (chain.head.header.number >= number) return undefined;
      logger.warn({ number, hash, ...checked.error }, "a proposed block is invalid");
      return false;
    },
  };
}

function committerOn({ chain, logger }: ChainConsensusParts, fail: Fail): Committer {
  return {
    async commit(candidate, seals) {
      const committed = await chain.commit(candidate, seals).catch((error: unknown) => {
        // After a failed commit the state on disk is unknown; the next start verifies it.
        fail(error);
        throw error;
      });
      const { number } = candidate.header;
      if (!committed.ok)
        logger.error(
          { number, hash: candidate.hash, ...committed.error },
          "a block that the validators agreed on could not be committed",
        );
      return committed.ok;
    },
  };
}

function ownSealsOn({ chain, validator }: ChainConsensusParts): OwnSeals {
  const isSealed = (digest: Digest, seals: readonly Signature[]): boolean =>
    seals.some((seal) => {
      const sealer = recoverAddress(digest, seal);
      return sealer !== undefined && equalBytes(sealer, validator.address);
    });

  /** A quorum has sealed only what the proposer of that round has signed. */
  function isProposed(number: bigint, round: number): boolean {
    const parent = chain.headerByNumber(number - 1n)?.header;
    const validators = chain.validatorsFor(number) ?? [];
    if (parent === undefined || !includesBytes(validators, validator.address)) return false;
    return equalBytes(proposerOf(validators, parent.coinbase, round), validator.address);
  }

  return {
    find(number) {
      const header = chain.headerByNumber(number)?.header;
      const extra = header && decodeExtraData(header.extraData);
      if (header === undefined || extra?.ok !== true) return undefined;
      const { round, seals } = extra.value;
      const isOurs = isProposed(number, round) || isSealed(sealDigest(header, extra.value), seals);
      return isOurs ? { number, timestamp: header.timestamp } : undefined;
    },
  };
}

/** Stops consensus when the disk fails or the database is damaged. Any other error only costs the round. */
async function failOnDiskError<T>(work: Promise<T>, fail: (error: unknown) => void): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof DiskError || error instanceof DamagedData) fail(error);
    throw error;
  }
}

/** Starts consensus at the chain's head. Fails when the vote log in `voteFile` does not belong to this chain. */
export function startConsensus(
  engine: Engine,
  chain: Chain,
  voteFile: string,
): Result<void, "unusableDatabase"> {
  const head: NamedHeader = chain.head;
  const tally = chain.tallyAfter(head);
  try {
    engine.start({ ...head, tally });
    return ok(undefined);
  } catch (error) {
    const message =
      `The vote log ${voteFile} cannot be used: ${messageOf(error)}. Restore the file that belongs to this chain; or, if this ` +
      `node has never voted on it, delete ${voteFile} and ${voteFile}.mark: it is then silent for a while.`;
    return err({ code: "unusableDatabase", fault: "local", message });
  }
}
