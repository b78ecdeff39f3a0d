import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { forkAt } from "../chainspec/forks.ts";
import { nextBaseFee } from "../execution/baseFee.ts";
import { isDelegation } from "../execution/delegation.ts";
import { minimumGas } from "../execution/intrinsicGas.ts";
import { type Rules, rulesOf } from "../execution/rules.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { larger } from "../primitives/quantity.ts";
import type { StateReader } from "../state/stateReader.ts";
import type { Header } from "../types/header.ts";
import type { Transaction } from "../types/transaction.ts";
import type { Chain } from "./createChain.ts";

/** What decides whether the next block may hold a transaction: its rules, and the accounts at the head. */
export interface NextBlockView {
  nonce(sender: Address): bigint;
  balanceWei(sender: Address): bigint;
  /** True when the sender has code that is not an EIP-7702 delegation. */
  isContract(sender: Address): boolean;
  readonly headGasLimit: bigint;
  /** Undefined before London. */
  readonly nextBaseFeePerGas: bigint | undefined;
  readonly rules: NextBlockRules;
}

/** The rules of the next block that concern a transaction by itself. */
export interface NextBlockRules {
  /** Undefined before EIP-155, when signatures cannot name a chain. */
  readonly chainId: bigint | undefined;
  readonly acceptedTypes: ReadonlySet<Transaction["type"]>;
  readonly hasBaseFee: boolean;
  readonly isZeroBaseFee: boolean;
  /** True when the first base fee is zero, or all are. */
  readonly isFreeFromStart: boolean;
  /** Maximum bytes of init code; undefined before Shanghai (EIP-3860). */
  readonly initCodeLimit: number | undefined;
  /** Intrinsic gas (EIP-2, 2028, 2930, 3860, 7623, 7702). */
  intrinsicGas(transaction: Transaction): bigint;
}

/** The view follows the chain's head; it derives the rules once for each head. */
export function createNextBlockView(
  spec: ChainSpec,
  chain: Pick<Chain, "head">,
  state: StateReader,
  clock: Pick<Clock, "nowMs">,
): NextBlockView {
  let head = chain.head;
  let next = deriveNextBlock(spec, chain, clock.nowMs());

  function nextBlock(): NextBlock {
    if (head !== chain.head) {
      head = chain.head;
      next = deriveNextBlock(spec, chain, clock.nowMs());
    }
    return next;
  }

  return {
    nonce: (sender) => state.account(sender)?.nonce ?? 0n,
    balanceWei: (sender) => state.account(sender)?.balance ?? 0n,
    isContract(sender) {
      const account = state.account(sender);
      if (account === undefined) return false;
      const code = state.code(account.codeHash);
      return code.length > 0 && !isDelegation(code);
    },
    get headGasLimit() {
      return chain.head.header.gasLimit;
    },
    get nextBaseFeePerGas() {
      return nextBlock().baseFeePerGas;
    },
    get rules() {
      return nextBlock().rules;
    },
  };
}

interface NextBlock {
  readonly baseFeePerGas: bigint | undefined;
  readonly rules: NextBlockRules;
}

/** Forks may activate by time, so the next block depends on the clock as well as on the head. */
function deriveNextBlock(spec: ChainSpec, { head }: Pick<Chain, "head">, nowMs: number): NextBlock {
  const timestamp = nextTimestamp(head.header, nowMs);
  const rules = rulesOf(forkAt(spec.forks, head.header.number + 1n, timestamp));
  return {
    baseFeePerGas: nextBaseFee(spec, head.header, timestamp),
    rules: transactionRules(spec, rules),
  };
}

/** Seconds of the block after `header` if it were made now. */
function nextTimestamp({ timestamp }: Header, nowMs: number): bigint {
  return larger(BigInt(Math.floor(nowMs / 1000)), timestamp + 1n);
}

/** Base fee of the block after `header` if it were made now, wei; undefined before London. */
export function baseFeeAfter(header: Header, spec: ChainSpec, nowMs: number): bigint | undefined {
  return nextBaseFee(spec, header, nextTimestamp(header, nowMs));
}

function transactionRules(spec: ChainSpec, rules: Rules): NextBlockRules {
  return {
    chainId: rules.hasReplayProtection ? spec.chainId : undefined,
    acceptedTypes: rules.acceptedTypes,
    hasBaseFee: rules.hasBaseFee,
    isZeroBaseFee: spec.isZeroBaseFee,
    isFreeFromStart: spec.isZeroBaseFee || (spec.fixedBaseFeePerGas ?? spec.initialBaseFeePerGas) === 0n,
    initCodeLimit: rules.initCodeLimitBytes,
    intrinsicGas: (transaction) => minimumGas(rules, transaction),
  };
}
