import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import type { SimulationJob, SimulationResult } from "../../execution/simulation/callRequest.ts";
import { runSimulation } from "../../execution/simulation/runSimulation.ts";
import type { CallContext } from "../../execution/simulation/simulate.ts";
import type { AskPermission, Permission } from "../../execution/transactionPermission.ts";
import type { YieldPolicy } from "../../execution/yieldPolicy.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import { type Address, ZERO_ADDRESS } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { onceKnown } from "../../primitives/eventual.ts";
import { EMPTY_BYTES, equalBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { NamedHeader } from "../../types/block.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import type { Allowlist } from "../allowlist.ts";
import { CheckCounts } from "../checkCounts.ts";
import { type CallResult, type HeadCalls, isUndecided } from "./headCalls.ts";
import { transactionPayload } from "./transactionPayload.ts";

export interface AccountContractSettings {
  readonly address: Address;
  readonly spec: ChainSpec;
  /** The gas cap (--rpc-gas-cap), which also bounds these calls; 0 for the gas limit of the parent. */
  readonly gasCap: bigint;
}

/** A block and the state after it. */
export type StateAfter = NamedHeader & Pick<CallContext, "state" | "ancestorHash">;

/** Asks about a transaction at the head; "unknown" where the contract gives no answer, or none in time. */
type AskAtHead = (
  transaction: SentTransaction,
  origin: "local" | "remote",
) => Promise<"permitted" | "denied" | "unknown" | "notAsked">;

/** What a transaction's contract is asked about. */
type Asked = Pick<SentTransaction, "sender" | "to" | "value" | "gasPrice" | "gasLimit" | "data">;

/** Most answers that are kept: some blocks full of transactions. */
const ANSWERS_LIMIT = 20_000;

/**
 * The contract that decides who may send transactions (--permissions-accounts-contract-address), asked as Besu 24.7 asks:
 *
 *     a caller's or peer's transaction ──> pool ──> askAtHead      (bounded in time: inline, else on a thread)
 *     our own proposal, before its sender's account is read ──> askingAfter its parent   (bounded by the block's time)
 *     a block of another validator or peer ──────────────────> askingAfter its parent   (bounded by gas alone)
 *
 * Each answer is that of the state after the parent block, even if an earlier transaction of the same block changes the
 * contract. The call sees the parent as its block, comes from the zero address, costs nothing, and has the gas limit of the
 * parent, or the gas cap if that is set. A contract that does not exist permits everything. A call that fails, and an answer
 * other than the words 0 and 1, decide nothing: the pool then refuses the transaction, and a block with it is invalid. So
 * the validity of a block depends on its parent's state and the gas cap, never on the machine.
 *
 * Stored blocks that are only executed again (traces, calls) are not judged, nor is a file of blocks that is imported.
 */
export class AccountContract {
  private readonly settings: AccountContractSettings;
  private readonly counts: CheckCounts;
  private readonly logger: Logger;
  /**
   * What the pool learnt at one head, so that a proposal on it need not ask again. Blocks add nothing: the head may move
   * while one is executed, and its answers are then those of no state.
   */
  private answers: { readonly after: Uint8Array; readonly byHash: Map<string, Permission> };
  private wasMissing = false;

  constructor(
    settings: AccountContractSettings,
    { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics | undefined },
  ) {
    this.settings = settings;
    this.counts = new CheckCounts(metrics, "transaction_smart_contract", "account contract");
    this.logger = logger;
    this.answers = { after: EMPTY_BYTES, byHash: new Map() };
  }

  /** Asks about transactions of the block after `parent`, in the time that the yield policy gives. */
  askingAfter(parent: StateAfter): AskPermission {
    return (transaction, yieldPolicy) => {
      const known = this.kept(transaction, parent.hash);
      if (known !== undefined) return this.counted(known);
      if (parent.state.account(this.settings.address) === undefined)
        return this.counted(this.permissionOf("absent"));
      const result = runSimulation(this.callAbout(transaction, parent), {
        ...this.contextAfter(parent),
        yieldPolicy: withoutLogLimit(yieldPolicy),
      });
      return onceKnown(result, (ended) => this.counted(this.permissionOf(ended)));
    };
  }

  /** Asks about a transaction at the head; undefined when the contract is not given the time to answer. */
  async askAtHead(transaction: SentTransaction, calls: HeadCalls): Promise<Permission | undefined> {
    const { hash } = calls.head;
    const known = this.kept(transaction, hash);
    if (known !== undefined) return this.counted(known);
    const result = await calls.run(this.settings.address, transactionPayload(transaction));
    if (isUndecided(result)) {
      this.counts.asked();
      this.noteNoAnswer("the call takes too long, or too much memory");
      return undefined;
    }
    const permission = this.permissionOf(result);
    // A head that was replaced meanwhile may have left its number to another block.
    if (equalBytes(calls.head.hash, hash)) this.keep(transaction, hash, permission);
    return this.counted(permission);
  }

  /** Asks once, as Besu does at its start. Fails when the contract gives no answer, unless it does not exist. */
  async probe(calls: HeadCalls): Promise<Result<void, "unusablePermissions">> {
    const defect = await this.findDefect(calls);
    return defect === undefined
      ? ok(undefined)
      : fail(
          "local",
          "unusablePermissions",
          `Error validating onchain account permissioning smart contract configuration: ${defect}`,
        );
  }

  /**
   * What the pool asks about transactions, callers' and peers' in turns of their own. Those whose sender the list denies are not
   * asked about: the pool asks the list itself, and counts the question.
   */
  asking(calls: HeadCalls, list: Pick<Allowlist, "has"> | undefined): AskAtHead {
    const turns = { local: calls.for("transactions of callers"), remote: calls.for("transactions of peers") };
    return async (transaction, origin) => {
      if (list?.has(toHex(transaction.sender)) === false) return "notAsked";
      const permission = await this.askAtHead(transaction, turns[origin]);
      return typeof permission === "string" ? permission : "unknown";
    };
  }

  private async findDefect(calls: HeadCalls): Promise<string | undefined> {
    const result = await calls.run(this.settings.address, transactionPayload(PROBE));
    if (isUndecided(result)) return "the call takes too long, or too much memory";
    const permission = this.permissionOf(result);
    return typeof permission === "string" ? undefined : permission.failure;
  }

  private kept({ hash }: SentTransaction, after: Uint8Array): Permission | undefined {
    return equalBytes(this.answers.after, after) ? this.answers.byHash.get(toKey(hash)) : undefined;
  }

  private keep({ hash }: SentTransaction, after: Uint8Array, permission: Permission): void {
    if (!equalBytes(this.answers.after, after)) this.answers = { after, byHash: new Map() };
    const { byHash } = this.answers;
    if (byHash.size < ANSWERS_LIMIT) byHash.set(toKey(hash), permission);
  }

  private counted(permission: Permission): Permission {
    this.counts.asked();
    if (typeof permission === "string") this.counts.answered(permission);
    return permission;
  }

  private callAbout(transaction: Asked, { header }: NamedHeader): SimulationJob {
    const call = { to: this.settings.address, data: transactionPayload(transaction) };
    return { kind: "call", call, blockNumber: header.number };
  }

  private contextAfter({ header, state, ancestorHash }: StateAfter): CallContext {
    const { spec, gasCap } = this.settings;
    return { spec, gasCap, header, state, ancestorHash };
  }

  private permissionOf(result: CallResult): Permission {
    const { address } = this.settings;
    const isMissing = result === "absent";
    // The states of the head and of a block's parent may differ in this, and are asked by turns.
    if (isMissing && !this.wasMissing)
      this.logger.often(
        "warn",
        `Account permissioning smart contract not found at address ${toHex(address)} in current head block. Any transaction will be allowed.`,
        () => ({ address }),
      );
    this.wasMissing = isMissing;
    if (isMissing) return "permitted";
    const permission = readPermission(result);
    if (typeof permission !== "string") this.noteNoAnswer(permission.failure);
    return permission;
  }

  private noteNoAnswer(reason: string): void {
    const { address } = this.settings;
    this.logger.often("error", "the account permissioning contract does not answer", () => ({
      address,
      reason,
    }));
  }
}

/** The transaction of no one that Besu asks about at its start. */
const PROBE: Asked = {
  sender: ZERO_ADDRESS,
  to: undefined,
  value: 0n,
  gasPrice: 0n,
  gasLimit: 0n,
  data: EMPTY_BYTES,
};

/** Reads a call's result; the failures have Besu's texts. */
function readPermission(result: SimulationResult): Permission {
  switch (result.kind) {
    case "returned":
      return readWord(result.data);
    case "refused":
      return { failure: "Transaction permissioning transaction found to be Invalid" };
    default:
      return { failure: "Transaction permissioning transaction failed when processing" };
  }
}

function readWord(data: Uint8Array): Permission {
  if (data.length !== WORD) return { failure: "Unexpected result size" };
  const last = data[WORD - 1] ?? 0;
  const isSmall = data.subarray(0, WORD - 1).every((byte) => byte === 0);
  if (!isSmall || last > 1) return { failure: "Unexpected result form" };
  return last === 1 ? "permitted" : "denied";
}

const WORD = 32;

/** The contract's own logs are thrown away, so the bound of a transaction's logs does not concern them. */
function withoutLogLimit({ isDue, yield: yieldNow }: YieldPolicy): YieldPolicy {
  return { isDue, yield: yieldNow };
}
