import { DEFAULT_SYMBOL } from "./chainOffer.ts";
import { call } from "./connection.ts";
import { useLoaded } from "./hooks.ts";
import type { NodeStatus } from "./nodeStatus.ts";

let asked: Promise<string> | undefined;

/** The symbol of the chain's coin, requested once. */
function coinSymbol(): Promise<string> {
  asked ??= call<NodeStatus>("explorer_getNodeStatus").then(
    ({ coinSymbol: symbol = DEFAULT_SYMBOL }) => symbol,
  );
  asked.catch(() => {
    asked = undefined;
  });
  return asked;
}

/** The symbol of the chain's coin, as its operator named it; empty until it is known. */
export function useCoinSymbol(): string {
  return useLoaded(coinSymbol, []).value ?? "";
}
