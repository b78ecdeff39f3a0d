import type { NodeStatus } from "./nodeStatus.ts";

/** The symbol of a chain whose operator names none. */
export const DEFAULT_SYMBOL = "ETH";

/** A chain in the form that wallets take (EIP-3085). */
interface ChainOffer {
  readonly chainId: string;
  readonly chainName: string;
  readonly nativeCurrency: { readonly name: string; readonly symbol: string; readonly decimals: number };
  readonly rpcUrls: readonly string[];
  readonly blockExplorerUrls?: readonly string[];
}

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/i;

/**
 * What a wallet needs to know about the chain: JSON-RPC on the host at which the page was reached, since the explorer's own
 * port accepts no transactions. Undefined when that port is unreachable or unknown, such as behind a proxy that terminates
 * TLS for the page.
 */
export function chainOffer(
  chainId: string,
  { walletRpc: rpc, coinSymbol = DEFAULT_SYMBOL }: Pick<NodeStatus, "walletRpc" | "coinSymbol">,
  page: Pick<Location, "protocol" | "hostname" | "origin">,
): ChainOffer | undefined {
  const isNear = LOOPBACK.test(page.hostname);
  if (rpc === null || page.protocol !== "http:" || (rpc.isLocal && !isNear)) return undefined;
  return {
    chainId,
    chainName: `Chain ${Number(chainId)}`,
    nativeCurrency: {
      name: coinSymbol === DEFAULT_SYMBOL ? "Ether" : coinSymbol,
      symbol: coinSymbol,
      decimals: 18,
    },
    rpcUrls: [`${rpc.isSecure ? "https" : "http"}://${page.hostname}:${Number(rpc.port)}`],
    // Wallets refuse the whole offer if it has an explorer on another host without TLS.
    ...(isNear && { blockExplorerUrls: [page.origin] }),
  };
}
