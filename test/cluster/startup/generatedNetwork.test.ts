import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPublicClient, createWalletClient, defineChain, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { account } from "../../builders/testAccounts.ts";
import { HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { freePort, PROGRAM, rpc, runProgram, temporaryFolder, until } from "../harness/nodeProcess.ts";

const GENESIS = {
  config: {
    chainId: 7998,
    londonBlock: 0,
    zeroBaseFee: true,
    ibft2: { blockperiodseconds: 1, requesttimeoutseconds: 2 },
  },
  nonce: "0x0",
  timestamp: "0x0",
  gasLimit: "0x1fffffffffffff",
  difficulty: "0x1",
  mixHash: "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365",
  coinbase: `0x${"00".repeat(20)}`,
  alloc: { [toHex(account(0).address)]: { balance: "0xde0b6b3a7640000" } },
};

itIfThorough(
  "a network starts from nothing but the files that generate-blockchain-config writes",
  async () => {
    const folder = temporaryFolder();
    const request = { genesis: GENESIS, blockchain: { nodes: { generate: true, count: 4 } } };
    writeFileSync(join(folder, "request.json"), JSON.stringify(request));
    const places = await Promise.all(Array.from({ length: 5 }, freePort));
    const made = runProgram(
      [
        "operator",
        "generate-blockchain-config",
        "--config-file=request.json",
        "--to=network",
        "--followers=1",
        `--hosts=${places.map((port) => `127.0.0.1:${port}`).join(",")}`,
      ],
      folder,
    );
    expect(await made.exit, made.output()).toBe(0);
    const nodes = join(folder, "network", "nodes");
    const started = await Promise.all(
      readdirSync(nodes).map(async (name) => {
        const port = await freePort();
        // Ports of this machine that other tests do not use; all else is as it was written.
        const ports = [`--rpc-http-port=${port}`, "--rpc-ws-port=0", "--metrics-port=0"];
        const program = runProgram(["--config-file=node.toml", ...ports], join(nodes, name), [], PROGRAM);
        return { name, program, url: `http://127.0.0.1:${port}` };
      }),
    );
    for (const { name, url } of started) {
      await until(async () => {
        const height = await rpc<string>(url, "eth_blockNumber", []).catch(() => "0x0");
        return Number(height) >= 6 ? true : undefined;
      }, `block 6 on ${name}`);
      expect(Number(await rpc<string>(url, "net_peerCount", []))).toBe(4);
    }
    const [{ url } = { url: "" }] = started;
    const validators = readdirSync(join(folder, "network", "keys")).sort();
    // Each in turn, unless the machine is too busy for the round.
    const proposers = new Set<string>();
    for (let number = 1; proposers.size < validators.length; number++)
      proposers.add(await until(() => proposerOf(url, number), `block ${number}`));
    expect([...proposers].sort()).toEqual(validators);
    const follower = started.find(({ name }) => name === "follower-1")?.url ?? "";
    await expectMined(follower);
    for (const { program } of started) program.child.kill("SIGTERM");
    for (const { program } of started) expect(await program.exit).toBe(0);
  },
);

/** Undefined while there is no such block. */
async function proposerOf(url: string, number: number): Promise<string | undefined> {
  const block = await rpc<{ miner: string } | null>(url, "eth_getBlockByNumber", [toQuantity(number), false]);
  return block?.miner;
}

/** Sends what viem offers by the node's suggestions, and the 1 wei that cast offers behind empty blocks. */
async function expectMined(url: string): Promise<void> {
  const sender = privateKeyToAccount(toHex(account(0).privateKey));
  const chain = defineChain({
    id: 7998,
    name: "generated",
    nativeCurrency: { name: "ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  const wallet = createWalletClient({
    account: sender,
    chain,
    transport: http(undefined, { timeout: HANG_MS }),
  });
  const reader = createPublicClient({ chain, transport: http(undefined, { timeout: HANG_MS }) });
  const suggested = await wallet.sendTransaction({ to: sender.address, value: 1n });
  const cheapest = await wallet.sendTransaction({
    to: sender.address,
    nonce: 1,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
  });
  for (const hash of [suggested, cheapest]) {
    const receipt = await reader.waitForTransactionReceipt({ hash, timeout: HANG_MS });
    expect(receipt.status).toBe("success");
  }
}
