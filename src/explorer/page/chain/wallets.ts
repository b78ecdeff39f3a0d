import { useEffect, useState } from "preact/hooks";
import { chainOffer } from "./chainOffer.ts";
import { call } from "./connection.ts";
import type { NodeStatus } from "./nodeStatus.ts";

/** A wallet's provider (EIP-1193). */
interface Provider {
  request(request: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** A wallet of the visitor's browser. */
export interface Wallet {
  readonly id: string;
  /** Name that the wallet gives itself. */
  readonly name: string;
  readonly provider: Provider;
}

interface Announcement {
  readonly info?: { readonly uuid?: unknown; readonly name?: unknown };
  readonly provider?: Provider;
}

/** The wallets that announce themselves (EIP-6963), else the injected one (EIP-1193). */
export function useWallets(): readonly Wallet[] {
  const [wallets, setWallets] = useState<readonly Wallet[]>(injectedWallet);
  useEffect(() => {
    const listener = (event: Event): void => {
      const { info, provider } = (event as CustomEvent<Announcement>).detail;
      if (provider === undefined || info === undefined) return;
      const wallet = { id: String(info.uuid), name: String(info.name), provider };
      setWallets((known) => [...known.filter(({ id }) => id !== wallet.id && id !== INJECTED), wallet]);
    };
    addEventListener("eip6963:announceProvider", listener);
    dispatchEvent(new Event("eip6963:requestProvider"));
    return () => removeEventListener("eip6963:announceProvider", listener);
  }, []);
  return wallets;
}

const INJECTED = "injected";

function injectedWallet(): readonly Wallet[] {
  const { ethereum: provider } = globalThis as { readonly ethereum?: Provider };
  return provider === undefined ? [] : [{ id: INJECTED, name: "Wallet of this browser", provider }];
}

/** Sends a transaction with the wallet, on the chain that the page shows. The wallet asks the visitor, and signs. */
export async function sendByWallet(
  { provider }: Wallet,
  chainId: string,
  transaction: { readonly to: string; readonly data: string; readonly value: string },
): Promise<string> {
  const accounts = await provider.request({ method: "eth_requestAccounts" });
  const from: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof from !== "string") throw new Error("The wallet gave no account.");
  if (Number(await provider.request({ method: "eth_chainId" })) !== Number(chainId))
    await bringToChain(provider, chainId);
  return String(
    await provider.request({ method: "eth_sendTransaction", params: [{ from, ...transaction }] }),
  );
}

/** Error code of a wallet that lacks the chain (EIP-3326). */
const UNRECOGNIZED_CHAIN = 4902;

/** Switches the wallet to the chain, and offers the chain if the wallet lacks it (EIP-3085). */
async function bringToChain(provider: Provider, chainId: string): Promise<void> {
  const wanted = { method: "wallet_switchEthereumChain", params: [{ chainId }] };
  try {
    await provider.request(wanted);
    return;
  } catch (error) {
    if (!isUnrecognizedChain(error)) throw error;
  }
  const status = await call<NodeStatus>("explorer_getNodeStatus");
  const chain = chainOffer(chainId, status, location);
  if (chain === undefined)
    throw new Error(
      `The wallet does not know chain ${Number(chainId)}. Add it there with a JSON-RPC URL that its operators name.`,
    );
  await provider.request({ method: "wallet_addEthereumChain", params: [chain] });
  // Some wallets only add the chain, others switch to it as well.
  if (Number(await provider.request({ method: "eth_chainId" })) !== Number(chainId))
    await provider.request(wanted);
}

/**
 * Whether the wallet lacks the chain: by the error's code, which some wallets wrap in another error (MetaMask on phones), or
 * by its text.
 */
function isUnrecognizedChain(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  if ("code" in error && error.code === UNRECOGNIZED_CHAIN) return true;
  const inner = "data" in error ? (error.data as { readonly originalError?: unknown } | null) : undefined;
  if (inner?.originalError !== undefined && isUnrecognizedChain(inner.originalError)) return true;
  return "message" in error && /unrecogni[sz]ed chain/i.test(String(error.message));
}
