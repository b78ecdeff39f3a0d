import { Common, Mainnet } from "@ethereumjs/common";
import { paramsEVM } from "@ethereumjs/evm";
import type { ForkName } from "../../src/chainspec/forks.ts";

/** The parameters of a fork for @ethereumjs/evm, the second opinion of some tests. */
export function libraryCommon(fork: ForkName): Common {
  const hardfork = fork === "frontier" ? "chainstart" : fork;
  return new Common({ chain: Mainnet, hardfork, params: paramsEVM });
}
