import { useEffect, useState } from "preact/hooks";

/** A wallet's provider (EIP-1193). */
export interface Provider {
  request(request: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** A wallet of the visitor's browser. */
export interface Wallet {
  readonly id: string;
  /** As the wallet calls itself. */
  readonly name: string;
  readonly provider: Provider;
}

interface Announcement {
  readonly info?: { readonly uuid?: unknown; readonly name?: unknown };
  readonly provider?: Provider;
}

/** The wallets that announce themselves (EIP-6963), else the one that is there (EIP-1193). */
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

/** Sends a transaction by the wallet, on the chain that the page shows. The wallet asks the visitor, and signs. */
export async function sendByWallet(
  { provider }: Wallet,
  chainId: string,
  transaction: { readonly to: string; readonly data: string; readonly value: string },
): Promise<string> {
  const accounts = await provider.request({ method: "eth_requestAccounts" });
  const from: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof from !== "string") throw new Error("The wallet gave no account.");
  if (Number(await provider.request({ method: "eth_chainId" })) !== Number(chainId))
    await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  return String(
    await provider.request({ method: "eth_sendTransaction", params: [{ from, ...transaction }] }),
  );
}
