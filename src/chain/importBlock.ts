import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { createYieldPolicy, NEVER_STOPPED, OutOfTime, type StopSignal } from "../execution/yieldPolicy.ts";
import { checkSealers, type SealErrorCode } from "../ibft/sealRules.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Hash } from "../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes, toHex } from "../primitives/hex.ts";
import type { Mutex } from "../primitives/mutex.ts";
import { type CodedError, err, ok, type Result } from "../primitives/result.ts";
import { type Block, type NamedHeader, type StoredBlock, sizeOfBlock } from "../types/block.ts";
import { chainHash } from "../types/blockHash.ts";
import { decodeExtraData, type ExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import { type SentTransaction, type Transaction, withSender } from "../types/transaction.ts";
import type { BadBlocks } from "./badBlocks.ts";
import type { BlockExecution } from "./blockExecution.ts";
import { type BodyErrorCode, checkBody, checkExecution } from "./bodyRules.ts";
import type { ChainWriter } from "./chainWriter.ts";
import { createSharedRuns, type ExecutedBlock, type ExecutedBlocks } from "./executedBlocks.ts";
import { checkHeader, type HeaderErrorCode } from "./headerRules.ts";
import type { ValidatorSets } from "./validators.ts";

/** Why a block did not become part of the chain. */
export type BlockErrorCode =
  | HeaderErrorCode
  | BodyErrorCode
  | SealErrorCode
  | "malformedExtraData"
  | "unknownSender"
  | "invalidTransaction"
  | "notAfterHead"
  | "validationStopped";

/** Recovers the senders of transactions in bulk; undefined where a signature is invalid. */
export type RecoverSenders = (
  transactions: readonly Transaction[],
) => Promise<readonly (Address | undefined)[]>;

/** Recovers the signer of each commit seal of a header; undefined where a seal is invalid. */
export type RecoverSealers = (
  header: Header,
  extra: ExtraData,
) => Promise<readonly (Address | undefined)[]> | readonly (Address | undefined)[];

export interface ImportParts {
  readonly spec: ChainSpec;
  readonly clock: Pick<Clock, "nowMs">;
  readonly writer: ChainWriter;
  readonly validators: ValidatorSets;
  readonly execution: BlockExecution;
  readonly executedBlocks: ExecutedBlocks;
  readonly badBlocks: BadBlocks;
  readonly recoverSenders: RecoverSenders;
  readonly recoverSealers: RecoverSealers;
  readonly mutex: Mutex;
}

/** Validates and imports every block of the chain, ours included. */
export interface Importer {
  /**
   * Validates a block on top of the head by all rules but the seals, executes it and keeps the execution. Stops once the
   * signal is aborted.
   */
  validate(block: Block, signal: StopSignal): Promise<Result<ExecutedBlock, BlockErrorCode>>;
  /** Validates a header on top of the head, seals included, without its body. */
  checkNext(header: Header): Promise<Result<void, BlockErrorCode>>;
  /** Validates, seals included, and commits. Succeeds for a block that is the head already. */
  import(block: Block): Promise<Result<NamedHeader, BlockErrorCode>>;
  /** As import, for callers that hold the mutex already. */
  importNow(block: Block): Promise<Result<NamedHeader, BlockErrorCode>>;
}

export function createImporter(parts: ImportParts): Importer {
  const { spec, clock, writer, validators, execution, executedBlocks, badBlocks, mutex } = parts;
  const { recoverSenders, recoverSealers } = parts;
  const runs = createSharedRuns<Result<ExecutedBlock, BlockErrorCode>>();

  /** Applies all header rules but the seals, on top of `parent`. */
  function validateHeader(
    header: Header,
    { extra }: DecodedHeader,
    parent: NamedHeader,
  ): Result<void, BlockErrorCode> {
    const set = validators.after(parent).validators;
    return checkHeader(spec, parent, { header, extra }, set, clock.nowMs());
  }

  /** Applies all header rules, seals included, on top of `parent`. */
  async function validateSealedHeader(
    header: Header,
    decoded: DecodedHeader,
    parent: NamedHeader,
  ): Promise<Result<void, BlockErrorCode>> {
    const checked = validateHeader(header, decoded, parent);
    return checked.ok ? validateSeals(header, decoded, parent) : checked;
  }

  /** Checks the seals before the body, so that an unsealed block from an untrusted peer costs no more than that. */
  async function validateSeals(
    header: Header,
    { extra }: DecodedHeader,
    parent: NamedHeader,
  ): Promise<Result<void, BlockErrorCode>> {
    const set = validators.after(parent).validators;
    // With one seal more than there are validators, one is certainly invalid: no need to recover the rest.
    const seals = extra.seals.slice(0, set.length + 1);
    const sealers = await recoverSealers(header, { ...extra, seals });
    return writer.head === parent ? checkSealers(sealers, set) : notAfterHead(header, writer.head);
  }

  /** Validates and executes the body of a block whose header is valid on top of `parent`. */
  async function validateBody(
    block: Block,
    { hash }: DecodedHeader,
    parent: NamedHeader,
    signal: StopSignal,
  ): Promise<Result<ExecutedBlock, BlockErrorCode>> {
    const done = executedBlocks.find(hash);
    if (done !== undefined && hasBodyOf(done.block, block)) return ok(done);
    const bodyResult = await checkBody(block, createYieldPolicy(clock));
    if (!bodyResult.ok) return bodyResult;
    const transactions = await withSenders(block.transactions);
    if (!transactions.ok) return transactions;
    if (writer.head !== parent) return notAfterHead(block.header, writer.head);
    if (signal.aborted) return stopped(block.header);
    const sent = { ...block, hash, transactions: transactions.value };
    const executed = await runs.join({ hash, base: parent, signal }, (combined) =>
      executeUnlessStopped(sent, parent, combined),
    );
    return executed ?? stopped(block.header);
  }

  /** Undefined when the signal is aborted. */
  async function executeUnlessStopped(
    block: Block<SentTransaction> & { readonly hash: Hash },
    parent: NamedHeader,
    signal: StopSignal,
  ): Promise<Result<ExecutedBlock, BlockErrorCode> | undefined> {
    // Stops when the head moves: the result would be invalid.
    const orHeadMoved = {
      get aborted() {
        return signal.aborted || writer.head !== parent;
      },
    };
    try {
      return await execute(block, parent, orHeadMoved);
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error;
      return writer.head === parent ? undefined : notAfterHead(block.header, writer.head);
    }
  }

  async function execute(
    block: Block<SentTransaction> & { readonly hash: Hash },
    parent: NamedHeader,
    signal: StopSignal,
  ): Promise<Result<ExecutedBlock, BlockErrorCode>> {
    const executed = await execution.replay(block.header, block.transactions, signal);
    if (writer.head !== parent) return notAfterHead(block.header, writer.head);
    if (!executed.ok) return executed;
    // Each of these takes tens of milliseconds for a full block, so they yield. `signal` is aborted once the head has
    // moved, before a step reads another state.
    const yieldPolicy = createYieldPolicy(clock, { signal });
    await yieldPolicy.yield();
    const staged = await execution.stage(executed.value, block.header.number, yieldPolicy);
    const checked = await checkExecution(
      block.header,
      { ...executed.value, stateRoot: staged.root },
      yieldPolicy,
    );
    if (writer.head !== parent) return notAfterHead(block.header, writer.head);
    if (!checked.ok) return checked;
    const { header, hash, transactions, ommers } = block;
    const result = {
      block: { header, hash, transactions, ommers },
      receipts: executed.value.receipts,
      staged,
    };
    executedBlocks.keep(result);
    return ok(result);
  }

  async function withSenders(
    transactions: readonly Transaction[],
  ): Promise<Result<readonly SentTransaction[], "unknownSender">> {
    const senders = await recoverSenders(transactions);
    const sent: SentTransaction[] = [];
    for (const [index, transaction] of transactions.entries()) {
      const sender = senders[index];
      if (sender === undefined) {
        const message = `the signature of transaction ${index} (${toHex(transaction.hash)}) is invalid`;
        return err({ code: "unknownSender", fault: "peer", message });
      }
      sent.push(withSender(transaction, sender));
    }
    return ok(sent);
  }

  async function validate(block: Block, signal: StopSignal): Promise<Result<ExecutedBlock, BlockErrorCode>> {
    const decoded = decodeAndHash(block.header);
    if (!decoded.ok) return decoded;
    const parent = writer.head;
    const headerResult = validateHeader(block.header, decoded.value, parent);
    return headerResult.ok ? validateBody(block, decoded.value, parent, signal) : headerResult;
  }

  async function checkNext(header: Header): Promise<Result<void, BlockErrorCode>> {
    const decoded = decodeAndHash(header);
    return decoded.ok ? validateSealedHeader(header, decoded.value, writer.head) : decoded;
  }

  async function commit(block: Block): Promise<Result<NamedHeader, BlockErrorCode>> {
    const decoded = decodeAndHash(block.header);
    if (!decoded.ok) return decoded;
    const parent = writer.head;
    if (equalBytes(decoded.value.hash, parent.hash)) return ok(parent);
    const headerResult = await validateSealedHeader(block.header, decoded.value, parent);
    if (!headerResult.ok) return headerResult;
    const executed = await validateBody(block, decoded.value, parent, NEVER_STOPPED);
    if (!executed.ok) return executed;
    const { staged } = executed.value;
    await writer.commit(sealed(executed.value, block.header, writer.head), staged, createYieldPolicy(clock));
    executedBlocks.clear();
    return ok(writer.head);
  }

  /** Records the block as bad if its validation fails by its own fault. */
  async function recordingBadBlock<T>(
    block: Block,
    validation: Promise<Result<T, BlockErrorCode>>,
  ): Promise<Result<T, BlockErrorCode>> {
    const checked = await validation;
    const decoded = checked.ok || !isInvalid(checked.error) ? undefined : decodeAndHash(block.header);
    if (decoded?.ok) badBlocks.keep({ ...block, hash: decoded.value.hash });
    return checked;
  }

  return {
    checkNext,
    validate: (block, signal) => recordingBadBlock(block, validate(block, signal)),
    import: (block) => mutex.runExclusive(() => recordingBadBlock(block, commit(block))),
    importNow: (block) => recordingBadBlock(block, commit(block)),
  };
}

/** A block with another parent, or from the future, may be valid elsewhere or later. */
function isInvalid({ code, fault }: CodedError<BlockErrorCode>): boolean {
  return fault === "peer" && !["wrongParent", "wrongNumber", "timestampInFuture"].includes(code);
}

/** Compares bodies of the same chain hash by transaction hashes: much cheaper than deriving the transactions root. */
function hasBodyOf(known: Block, { transactions, ommers, withdrawals = [] }: Block): boolean {
  return (
    ommers.length === 0 &&
    withdrawals.length === 0 &&
    transactions.length === known.transactions.length &&
    transactions.every(({ hash }, index) => equalBytes(hash, known.transactions[index]?.hash ?? EMPTY_BYTES))
  );
}

/** The block to store: the executed one with the sealed header, which differs only in round and seals. */
function sealed({ block, receipts }: ExecutedBlock, header: Header, parent: NamedHeader): StoredBlock {
  const complete = { ...block, header };
  return {
    ...complete,
    receipts,
    totalDifficulty: parent.totalDifficulty + header.difficulty,
    size: sizeOfBlock(complete),
  };
}

interface DecodedHeader {
  readonly extra: ExtraData;
  readonly hash: Hash;
}

function decodeAndHash(header: Header): Result<DecodedHeader, "malformedExtraData"> {
  const extra = decodeExtraData(header.extraData);
  return extra.ok ? ok({ extra: extra.value, hash: chainHash(header, extra.value) }) : extra;
}

function stopped({ number }: Header): Result<never, "validationStopped"> {
  const message = `the validation of block ${number} was stopped`;
  return err({ code: "validationStopped", fault: "local", message });
}

function notAfterHead(header: Header, head: NamedHeader): Result<never, "notAfterHead"> {
  return err({
    code: "notAfterHead",
    fault: "local",
    message: `block ${header.number} does not follow the head, which is now block ${head.header.number}`,
  });
}
