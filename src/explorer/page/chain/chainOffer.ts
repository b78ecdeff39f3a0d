import type { WalletRpc } from "./nodeStatus.ts";

/** A chain as wallets take it (EIP-3085). */
interface ChainOffer {
  readonly chainId: string;
  readonly chainName: string;
  readonly nativeCurrency: { readonly name: string; readonly symbol: string; readonly decimals: number };
  readonly rpcUrls: readonly string[];
  readonly blockExplorerUrls?: readonly string[];
}

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/i;

/**
 * What a wallet needs to know of the chain: JSON-RPC on the host by which the page was reached, since the explorer's own port takes no
 * transactions. Undefined where that cannot be reached or is not known, as behind a proxy that speaks TLS for the page.
 */
export function chainOffer(
  chainId: string,
  rpc: WalletRpc | null,
  page: Pick<Location, "protocol" | "hostname" | "origin">,
): ChainOffer | undefined {
  const isNear = LOOPBACK.test(page.hostname);
  if (rpc === null || page.protocol !== "http:" || (rpc.isLocal && !isNear)) return undefined;
  return {
    chainId,
    chainName: `Chain ${Number(chainId)}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: [`${rpc.isSecure ? "https" : "http"}://${page.hostname}:${Number(rpc.port)}`],
    // Wallets refuse the whole offer for an explorer elsewhere that does not speak TLS.
    ...(isNear && { blockExplorerUrls: [page.origin] }),
  };
}
