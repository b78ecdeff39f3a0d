import { createPublicClient, createWalletClient, defineChain, http, toFunctionSelector } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { expect } from "vitest";
import { compileContract, LEDGER_SOURCE } from "../../contracts/compile.ts";
import { HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { startNodeProcess } from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";

itIfThorough(
  "an endless call is stopped at the time limit while blocks are made each second that the node has",
  async () => {
    const node = await startNodeProcess();
    const ledger = compileContract(LEDGER_SOURCE, "Ledger");
    const account = mnemonicToAccount("test test test test test test test test test test test junk");
    const chain = defineChain({
      id: 1337,
      name: "d",
      nativeCurrency: { name: "E", symbol: "E", decimals: 18 },
      rpcUrls: { default: { http: [node.httpUrl] } },
    });
    const wallet = createWalletClient({ chain, account, transport: http(undefined, { timeout: HANG_MS }) });
    const reader = createPublicClient({
      chain,
      transport: http(undefined, { timeout: HANG_MS }),
      pollingInterval: 100,
    });
    const receipt = await reader.waitForTransactionReceipt({
      hash: await wallet.deployContract({ ...ledger, args: [1n] }),
    });
    const before = await reader.getBlock();
    const own = new OwnTime(node);
    const call = node.rpc("eth_call", [
      { to: receipt.contractAddress, data: toFunctionSelector("forever()"), gas: "0x7fffffffffffffff" },
      "latest",
    ]);
    await expect(call).rejects.toThrow(/time/i);
    const least = own.leastBlocks();
    const after = await reader.getBlock();
    expect(Number(after.number - before.number)).toBeGreaterThanOrEqual(least);
    expect(
      await reader.readContract({
        address: receipt.contractAddress ?? "0x",
        abi: ledger.abi,
        functionName: "count",
      }),
    ).toBe(1n);
    expect(await node.stop()).toBe(0);
  },
);
