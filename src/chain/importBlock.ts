import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { createPace, NEVER_STOPPED, OutOfTime, type StopSignal } from "../execution/pace.ts";
import { checkSealers, type SealDefect } from "../ibft/sealRules.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Hash } from "../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes, toHex } from "../primitives/hex.ts";
import { type Outcome, ok, type Rejection, rejected } from "../primitives/outcome.ts";
import type { Turns } from "../primitives/turns.ts";
import { type Block, type NamedHeader, type StoredBlock, sizeOfBlock } from "../types/block.ts";
import { chainHash } from "../types/blockHash.ts";
import { decodeExtraData, type ExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import { type SentTransaction, type Transaction, withSender } from "../types/transaction.ts";
import type { BadBlocks } from "./badBlocks.ts";
import type { BlockExecution } from "./blockExecution.ts";
import { type BodyDefect, checkBody, checkExecution } from "./bodyRules.ts";
import { createSharedRuns, type ExecutedBlock, type Executions } from "./executions.ts";
import { checkHeader, type HeaderDefect } from "./headerRules.ts";
import type { HeadMover } from "./headMover.ts";
import type { ValidatorSets } from "./validators.ts";

/** Why a block did not become part of the chain. */
export type BlockDefect =
  | HeaderDefect
  | BodyDefect
  | SealDefect
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
  readonly head: HeadMover;
  readonly validators: ValidatorSets;
  readonly execution: BlockExecution;
  readonly executions: Executions;
  readonly badBlocks: BadBlocks;
  readonly recoverSenders: RecoverSenders;
  readonly recoverSealers: RecoverSealers;
  readonly turns: Turns;
}

/** The way of every block into the chain, ours included. */
export interface Importer {
  /**
   * Judges a block on top of the head by all rules but the seals, executes it, and keeps the execution; gives up once
   * the signal is aborted.
   */
  judge(block: Block, signal: StopSignal): Promise<Outcome<ExecutedBlock, BlockDefect>>;
  /** Judges a header on top of the head, seals included: for whoever has not looked at the body yet. */
  checkNext(header: Header): Promise<Outcome<void, BlockDefect>>;
  /** Judges, seals included, and commits. A block that is the head already is fine. */
  import(block: Block): Promise<Outcome<NamedHeader, BlockDefect>>;
  /** As import, for whoever has the turn already. */
  importNow(block: Block): Promise<Outcome<NamedHeader, BlockDefect>>;
}

export function createImporter(parts: ImportParts): Importer {
  const { spec, clock, head, validators, execution, executions, badBlocks, turns } = parts;
  const { recoverSenders, recoverSealers } = parts;
  const runs = createSharedRuns<Outcome<ExecutedBlock, BlockDefect>>();

  /** The header by its rules but the seals, on top of `parent`. */
  function judgeHeader(
    header: Header,
    { extra }: OpenHeader,
    parent: NamedHeader,
  ): Outcome<void, BlockDefect> {
    const set = validators.after(parent).validators;
    return checkHeader(spec, parent, { header, extra }, set, clock.nowMs());
  }

  /** The header by all its rules, seals included, on top of `parent`. */
  async function judgeSealedHeader(
    header: Header,
    opened: OpenHeader,
    parent: NamedHeader,
  ): Promise<Outcome<void, BlockDefect>> {
    const verdict = judgeHeader(header, opened, parent);
    return verdict.ok ? judgeSeals(header, opened, parent) : verdict;
  }

  /** Who sealed the block, before anything of its body is looked at: a stranger's block costs no more than that. */
  async function judgeSeals(
    header: Header,
    { extra }: OpenHeader,
    parent: NamedHeader,
  ): Promise<Outcome<void, BlockDefect>> {
    const set = validators.after(parent).validators;
    // Among one more than there are validators is one that should not be there.
    const seals = extra.seals.slice(0, set.length + 1);
    const sealers = await recoverSealers(header, { ...extra, seals });
    return head.head === parent ? checkSealers(sealers, set) : notAfterHead(header, head.head);
  }

  /** The body of a block whose header is sound on top of `parent`. */
  async function judgeBody(
    block: Block,
    { hash }: OpenHeader,
    parent: NamedHeader,
    signal: StopSignal,
  ): Promise<Outcome<ExecutedBlock, BlockDefect>> {
    const done = executions.find(hash);
    if (done !== undefined && hasBodyOf(done.block, block)) return ok(done);
    const bodyVerdict = await checkBody(block, createPace(clock));
    if (!bodyVerdict.ok) return bodyVerdict;
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
  ): Promise<Outcome<ExecutedBlock, BlockDefect> | undefined> {
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
  ): Promise<Outcome<ExecutedBlock, BlockDefect>> {
    const executed = await execution.replay(block.header, block.transactions, signal);
    if (head.head !== parent) return notAfterHead(block.header, head.head);
    if (!executed.ok) return executed;
    // Of a full block each of these takes tens of milliseconds: others have their turn in between. `signal` is aborted
    // once the head has moved, before a step reads anything of another state.
    const pace = createPace(clock, { signal });
    await pace.rest();
    const staged = await execution.stage(executed.value, block.header.number, pace);
    const verdict = await checkExecution(block.header, { ...executed.value, stateRoot: staged.root }, pace);
    if (head.head !== parent) return notAfterHead(block.header, head.head);
    if (!verdict.ok) return verdict;
    const { header, hash, transactions, ommers } = block;
    const result = {
      block: { header, hash, transactions, ommers },
      receipts: executed.value.receipts,
      staged,
    };
    executions.keep(result);
    return ok(result);
  }

  async function withSenders(
    transactions: readonly Transaction[],
  ): Promise<Outcome<readonly SentTransaction[], "unknownSender">> {
    const senders = await recoverSenders(transactions);
    const sent: SentTransaction[] = [];
    for (const [index, transaction] of transactions.entries()) {
      const sender = senders[index];
      if (sender === undefined) {
        const message = `the signature of transaction ${index} (${toHex(transaction.hash)}) fits no key`;
        return rejected({ code: "unknownSender", fault: "peer", message });
      }
      sent.push(withSender(transaction, sender));
    }
    return ok(sent);
  }

  async function judge(block: Block, signal: StopSignal): Promise<Outcome<ExecutedBlock, BlockDefect>> {
    const trial = open(block.header);
    if (!trial.ok) return trial;
    const parent = head.head;
    const headerVerdict = judgeHeader(block.header, trial.value, parent);
    return headerVerdict.ok ? judgeBody(block, trial.value, parent, signal) : headerVerdict;
  }

  async function checkNext(header: Header): Promise<Outcome<void, BlockDefect>> {
    const trial = open(header);
    return trial.ok ? judgeSealedHeader(header, trial.value, head.head) : trial;
  }

  async function commit(block: Block): Promise<Outcome<NamedHeader, BlockDefect>> {
    const trial = open(block.header);
    if (!trial.ok) return trial;
    const parent = head.head;
    if (equalBytes(trial.value.hash, parent.hash)) return ok(parent);
    const headerVerdict = await judgeSealedHeader(block.header, trial.value, parent);
    if (!headerVerdict.ok) return headerVerdict;
    const judged = await judgeBody(block, trial.value, parent, NEVER_STOPPED);
    if (!judged.ok) return judged;
    const { staged } = judged.value;
    await head.commit(sealed(judged.value, block.header, head.head), staged, createPace(clock));
    executions.clear();
    return ok(head.head);
  }

  /** Keeps the block where the verdict is that there is something wrong with it. */
  async function remembering<T>(
    block: Block,
    trial: Promise<Outcome<T, BlockDefect>>,
  ): Promise<Outcome<T, BlockDefect>> {
    const verdict = await trial;
    const opened = verdict.ok || !isFlaw(verdict.rejection) ? undefined : open(block.header);
    if (opened?.ok) badBlocks.keep({ ...block, hash: opened.value.hash });
    return verdict;
  }

  return {
    checkNext,
    judge: (block, signal) => remembering(block, judge(block, signal)),
    import: (block) => turns.take(() => remembering(block, commit(block))),
    importNow: (block) => remembering(block, commit(block)),
  };
}

/** What comes from another place or too early may be sound. */
function isFlaw({ code, fault }: Rejection<BlockDefect>): boolean {
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

function open(header: Header): Outcome<OpenHeader, "malformedExtraData"> {
  const extra = decodeExtraData(header.extraData);
  return extra.ok ? ok({ extra: extra.value, hash: chainHash(header, extra.value) }) : extra;
}

function stopped({ number }: Header): Outcome<never, "validationStopped"> {
  const message = `nobody waits for the validation of block ${number} any more`;
  return rejected({ code: "validationStopped", fault: "local", message });
}

function notAfterHead(header: Header, head: NamedHeader): Outcome<never, "notAfterHead"> {
  return rejected({
    code: "notAfterHead",
    fault: "local",
    message: `block ${header.number} does not follow the head, which is now block ${head.header.number}`,
  });
}
