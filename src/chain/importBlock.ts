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

/** Finds the senders of transactions in bulk; undefined where a signature fits no key. */
export type RecoverSenders = (
  transactions: readonly Transaction[],
) => Promise<readonly (Address | undefined)[]>;

/** Finds who made each commit seal of a header; undefined where a seal fits no key. */
export type RecoverSealers = (
  header: Header,
  extra: ExtraData,
) => Promise<readonly (Address | undefined)[]> | readonly (Address | undefined)[];

export interface ImportParts {
  readonly spec: ChainSpec;
  readonly clock: Pick<Clock, "nowMs">;
  readonly head: ChainWriter;
  readonly validators: ValidatorSets;
  readonly execution: BlockExecution;
  readonly executedBlocks: ExecutedBlocks;
  readonly badBlocks: BadBlocks;
  readonly recoverSenders: RecoverSenders;
  readonly recoverSealers: RecoverSealers;
  readonly mutex: Mutex;
}

/** The way of every block into the chain, ours included. */
export interface Importer {
  /**
   * Judges a block on top of the head by all rules but the seals, executes it, and keeps the execution; gives up once
   * the signal is aborted.
   */
  validate(block: Block, signal: StopSignal): Promise<Result<ExecutedBlock, BlockErrorCode>>;
  /** Judges a header on top of the head, seals included: for whoever has not looked at the body yet. */
  checkNext(header: Header): Promise<Result<void, BlockErrorCode>>;
  /** Judges, seals included, and commits. A block that is the head already is fine. */
  import(block: Block): Promise<Result<NamedHeader, BlockErrorCode>>;
  /** As import, for whoever has the turn already. */
  importNow(block: Block): Promise<Result<NamedHeader, BlockErrorCode>>;
}

export function createImporter(parts: ImportParts): Importer {
  const { spec, clock, head, validators, execution, executedBlocks, badBlocks, mutex } = parts;
  const { recoverSenders, recoverSealers } = parts;
  const runs = createSharedRuns<Result<ExecutedBlock, BlockErrorCode>>();

  /** The header by its rules but the seals, on top of `parent`. */
  function validateHeader(
    header: Header,
    { extra }: OpenHeader,
    parent: NamedHeader,
  ): Result<void, BlockErrorCode> {
    const set = validators.after(parent).validators;
    return checkHeader(spec, parent, { header, extra }, set, clock.nowMs());
  }

  /** The header by all its rules, seals included, on top of `parent`. */
  async function validateSealedHeader(
    header: Header,
    opened: OpenHeader,
    parent: NamedHeader,
  ): Promise<Result<void, BlockErrorCode>> {
    const checked = validateHeader(header, opened, parent);
    return checked.ok ? validateSeals(header, opened, parent) : checked;
  }

  /** Who sealed the block, before anything of its body is looked at: a stranger's block costs no more than that. */
  async function validateSeals(
    header: Header,
    { extra }: OpenHeader,
    parent: NamedHeader,
  ): Promise<Result<void, BlockErrorCode>> {
    const set = validators.after(parent).validators;
    // Among one more than there are validators is one that should not be there.
    const seals = extra.seals.slice(0, set.length + 1);
    const sealers = await recoverSealers(header, { ...extra, seals });
    return head.head === parent ? checkSealers(sealers, set) : notAfterHead(header, head.head);
  }

  /** The body of a block whose header is sound on top of `parent`. */
  async function validateBody(
    block: Block,
    { hash }: OpenHeader,
    parent: NamedHeader,
    signal: StopSignal,
  ): Promise<Result<ExecutedBlock, BlockErrorCode>> {
    const done = executedBlocks.find(hash);
    if (done !== undefined && hasBodyOf(done.block, block)) return ok(done);
    const bodyResult = await checkBody(block, createYieldPolicy(clock));
    if (!bodyResult.ok) return bodyResult;
    const transactions = await withSenders(block.transactions);
    if (!transactions.ok) return transactions;
    if (head.head !== parent) return notAfterHead(block.header, head.head);
    if (signal.aborted) return stopped(block.header);
    const sent = { ...block, hash, transactions: transactions.value };
    const executed = await runs.join({ hash, base: parent, signal }, (joint) =>
      executeUnlessStopped(sent, parent, joint),
    );
    return executed ?? stopped(block.header);
  }

  /** Undefined when nobody waits for it any more. */
  async function executeUnlessStopped(
    block: Block<SentTransaction> & { readonly hash: Hash },
    parent: NamedHeader,
    signal: StopSignal,
  ): Promise<Result<ExecutedBlock, BlockErrorCode> | undefined> {
    // On another head nothing that comes of it is of any use.
    const orMoved = {
      get aborted() {
        return signal.aborted || head.head !== parent;
      },
    };
    try {
      return await execute(block, parent, orMoved);
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error;
      return head.head === parent ? undefined : notAfterHead(block.header, head.head);
    }
  }

  async function execute(
    block: Block<SentTransaction> & { readonly hash: Hash },
    parent: NamedHeader,
    signal: StopSignal,
  ): Promise<Result<ExecutedBlock, BlockErrorCode>> {
    const executed = await execution.replay(block.header, block.transactions, signal);
    if (head.head !== parent) return notAfterHead(block.header, head.head);
    if (!executed.ok) return executed;
    // Of a full block each of these takes tens of milliseconds: others have their turn in between. `signal` is aborted
    // once the head has moved, before a step reads anything of another state.
    const yieldPolicy = createYieldPolicy(clock, { signal });
    await yieldPolicy.yield();
    const staged = await execution.stage(executed.value, block.header.number, yieldPolicy);
    const checked = await checkExecution(
      block.header,
      { ...executed.value, stateRoot: staged.root },
      yieldPolicy,
    );
    if (head.head !== parent) return notAfterHead(block.header, head.head);
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
        const message = `the signature of transaction ${index} (${toHex(transaction.hash)}) fits no key`;
        return err({ code: "unknownSender", fault: "peer", message });
      }
      sent.push(withSender(transaction, sender));
    }
    return ok(sent);
  }

  async function validate(block: Block, signal: StopSignal): Promise<Result<ExecutedBlock, BlockErrorCode>> {
    const validation = open(block.header);
    if (!validation.ok) return validation;
    const parent = head.head;
    const headerResult = validateHeader(block.header, validation.value, parent);
    return headerResult.ok ? validateBody(block, validation.value, parent, signal) : headerResult;
  }

  async function checkNext(header: Header): Promise<Result<void, BlockErrorCode>> {
    const validation = open(header);
    return validation.ok ? validateSealedHeader(header, validation.value, head.head) : validation;
  }

  async function commit(block: Block): Promise<Result<NamedHeader, BlockErrorCode>> {
    const validation = open(block.header);
    if (!validation.ok) return validation;
    const parent = head.head;
    if (equalBytes(validation.value.hash, parent.hash)) return ok(parent);
    const headerResult = await validateSealedHeader(block.header, validation.value, parent);
    if (!headerResult.ok) return headerResult;
    const judged = await validateBody(block, validation.value, parent, NEVER_STOPPED);
    if (!judged.ok) return judged;
    const { staged } = judged.value;
    await head.commit(sealed(judged.value, block.header, head.head), staged, createYieldPolicy(clock));
    executedBlocks.clear();
    return ok(head.head);
  }

  /** Keeps the block where the verdict is that there is something wrong with it. */
  async function remembering<T>(
    block: Block,
    validation: Promise<Result<T, BlockErrorCode>>,
  ): Promise<Result<T, BlockErrorCode>> {
    const checked = await validation;
    const opened = checked.ok || !isInvalid(checked.error) ? undefined : open(block.header);
    if (opened?.ok) badBlocks.keep({ ...block, hash: opened.value.hash });
    return checked;
  }

  return {
    checkNext,
    validate: (block, signal) => remembering(block, validate(block, signal)),
    import: (block) => mutex.runExclusive(() => remembering(block, commit(block))),
    importNow: (block) => remembering(block, commit(block)),
  };
}

/** What comes from another place or too early may be sound. */
function isInvalid({ code, fault }: CodedError<BlockErrorCode>): boolean {
  return fault === "peer" && !["wrongParent", "wrongNumber", "timestampInFuture"].includes(code);
}

/** Much cheaper than the root of its transactions; the header, which is the same, names just one body. */
function hasBodyOf(known: Block, { transactions, ommers, withdrawals = [] }: Block): boolean {
  return (
    ommers.length === 0 &&
    withdrawals.length === 0 &&
    transactions.length === known.transactions.length &&
    transactions.every(({ hash }, index) => equalBytes(hash, known.transactions[index]?.hash ?? EMPTY_BYTES))
  );
}

/** The block as it is stored: executed under one header, sealed under another that differs in round and seals alone. */
function sealed({ block, receipts }: ExecutedBlock, header: Header, parent: NamedHeader): StoredBlock {
  const complete = { ...block, header };
  return {
    ...complete,
    receipts,
    totalDifficulty: parent.totalDifficulty + header.difficulty,
    size: sizeOfBlock(complete),
  };
}

interface OpenHeader {
  readonly extra: ExtraData;
  readonly hash: Hash;
}

function open(header: Header): Result<OpenHeader, "malformedExtraData"> {
  const extra = decodeExtraData(header.extraData);
  return extra.ok ? ok({ extra: extra.value, hash: chainHash(header, extra.value) }) : extra;
}

function stopped({ number }: Header): Result<never, "validationStopped"> {
  const message = `nobody waits for the validation of block ${number} any more`;
  return err({ code: "validationStopped", fault: "local", message });
}

function notAfterHead(header: Header, head: NamedHeader): Result<never, "notAfterHead"> {
  return err({
    code: "notAfterHead",
    fault: "local",
    message: `block ${header.number} does not follow the head, which is now block ${head.header.number}`,
  });
}
