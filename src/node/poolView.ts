import type { Chain } from "../chain/createChain.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { forkAt } from "../chainspec/forks.ts";
import { nextBaseFee } from "../execution/baseFee.ts";
import { isDelegation } from "../execution/delegation.ts";
import { minimumGas } from "../execution/intrinsicGas.ts";
import { type Rules, rulesOf } from "../execution/rules.ts";
import type { Clock } from "../primitives/clock.ts";
import { larger } from "../primitives/quantity.ts";
import type { StateReader } from "../state/stateReader.ts";
import type { PoolChainView, PoolRules } from "../txpool/txPool.ts";

/** The pool's view of the head: its accounts, and the rules of the next block. */
export function createPoolView(
  spec: ChainSpec,
  chain: Chain,
  state: StateReader,
  clock: Pick<Clock, "nowMs">,
): PoolChainView {
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
  readonly rules: PoolRules;
}

/** Forks may activate by time, so the next block depends on the clock as well as on the head. */
function deriveNextBlock(spec: ChainSpec, { head }: Chain, nowMs: number): NextBlock {
  const nowSeconds = BigInt(Math.floor(nowMs / 1000));
  const timestamp = larger(nowSeconds, head.header.timestamp + 1n);
  const rules = rulesOf(forkAt(spec.forks, head.header.number + 1n, timestamp));
  return {
    baseFeePerGas: nextBaseFee(spec, head.header, timestamp),
    rules: poolRules(spec, rules),
  };
}

function poolRules(spec: ChainSpec, rules: Rules): PoolRules {
  return {
    chainId: rules.hasReplayProtection ? spec.chainId : undefined,
    acceptedTypes: rules.acceptedTypes,
    hasBaseFee: rules.hasBaseFee,
    isZeroBaseFee: spec.isZeroBaseFee,
    initCodeLimit: rules.initCodeLimitBytes,
    intrinsicGas: (transaction) => minimumGas(rules, transaction),
  };
}
