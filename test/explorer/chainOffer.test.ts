import { describe, expect, it } from "vitest";
import { chainOffer } from "../../src/explorer/page/chain/chainOffer.ts";

const RPC = { port: "0x2161", isSecure: false, isLocal: false };

function offer(url: string, rpc: Partial<typeof RPC> = {}, coin: { coinSymbol?: string } = {}) {
  return chainOffer("0x539", { walletRpc: { ...RPC, ...rpc }, ...coin }, new URL(url));
}

describe("the chain that a wallet is offered", () => {
  it("is reached on the host by which the page was, with TLS where the port has it", () => {
    expect(offer("http://node.lan:8549")?.rpcUrls).toEqual(["http://node.lan:8545"]);
    expect(offer("http://node.lan:8549", { isSecure: true })?.rpcUrls).toEqual(["https://node.lan:8545"]);
    expect(offer("http://[::1]:8549", { isLocal: true })?.rpcUrls).toEqual(["http://[::1]:8545"]);
  });

  it("has the coin that the operator named", () => {
    const url = "http://localhost:8549";
    expect(offer(url)?.nativeCurrency).toEqual({ name: "Ether", symbol: "ETH", decimals: 18 });
    expect(offer(url, {}, { coinSymbol: "ACME" })?.nativeCurrency).toEqual({
      name: "ACME",
      symbol: "ACME",
      decimals: 18,
    });
  });

  it("names the explorer where wallets take its URL", () => {
    expect(offer("http://localhost:8549")?.blockExplorerUrls).toEqual(["http://localhost:8549"]);
    expect(offer("http://node.lan:8549")).not.toHaveProperty("blockExplorerUrls");
  });

  it("is none where the visitor cannot reach the port, or nobody knows where it is", () => {
    expect(offer("http://node.lan:8549", { isLocal: true })).toBeUndefined();
    expect(offer("https://explorer.example")).toBeUndefined();
    expect(chainOffer("0x539", { walletRpc: null }, new URL("http://localhost:8549"))).toBeUndefined();
  });
});
