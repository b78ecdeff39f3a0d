import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { verifyMerkleProof } from "@ethereumjs/mpt";
import {
  Contract,
  ContractFactory,
  HDNodeWallet,
  type InterfaceAbi,
  JsonRpcProvider,
  Mnemonic,
  NonceManager,
  type TransactionResponse,
  Wallet,
  WebSocketProvider,
} from "ethers";
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  hexToBytes,
  http,
  keccak256,
  pad,
  webSocket,
} from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileContract, LEDGER_SOURCE } from "../../contracts/compile.ts";
import { HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const ledger = compileContract(LEDGER_SOURCE, "Ledger");

let node: NodeProcess;

beforeAll(async () => {
  node = await startNodeProcess();
});

afterAll(async () => {
  expect(await node.stop()).toBe(0);
});

describe("viem", () => {
  const account = mnemonicToAccount(MNEMONIC, { addressIndex: 1 });

  function clients() {
    const chain = defineChain({
      id: 1337,
      name: "Ibex development",
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [node.httpUrl], webSocket: [node.wsUrl] } },
    });
    return {
      reader: createPublicClient({
        chain,
        transport: http(undefined, { timeout: HANG_MS }),
        pollingInterval: 100,
      }),
      watcher: createPublicClient({ chain, transport: webSocket(undefined, { timeout: HANG_MS }) }),
      wallet: createWalletClient({ chain, account, transport: http(undefined, { timeout: HANG_MS }) }),
    };
  }

  async function deploy() {
    const { reader, wallet } = clients();
    const hash = await wallet.deployContract({ ...ledger, args: [7n], value: 3n });
    const receipt = await reader.waitForTransactionReceipt({ hash });
    expect(receipt.status).toBe("success");
    if (receipt.contractAddress === null || receipt.contractAddress === undefined)
      throw new Error("no address");
    return { address: receipt.contractAddress, abi: ledger.abi };
  }

  it("deploys, writes, reads, and finds the event by its topic", async () => {
    const { reader, wallet } = clients();
    const contract = await deploy();
    const hash = await wallet.writeContract({
      ...contract,
      functionName: "deposit",
      args: ["rent"],
      value: 11n,
    });
    const receipt = await reader.waitForTransactionReceipt({ hash });
    expect(receipt.status).toBe("success");
    expect(
      await reader.readContract({ ...contract, functionName: "balances", args: [account.address] }),
    ).toBe(11n);
    expect(await reader.getBalance({ address: contract.address })).toBe(14n);
    const events = await reader.getContractEvents({
      ...contract,
      eventName: "Deposited",
      fromBlock: receipt.blockNumber,
    });
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      transactionHash: hash,
      args: { who: account.address, amount: 11n, note: "rent" },
    });
  });

  itIfThorough(
    "has a transaction filled in by the node, and its receipt by the call that sends it",
    async () => {
      const { reader, wallet } = clients();
      const to = `0x${"5e".repeat(20)}` as const;
      const filled = await reader.fillTransaction({ account, to, value: 5n });
      const serializedTransaction = await wallet.signTransaction(filled.transaction as never);
      const receipt = await reader.sendRawTransactionSync({ serializedTransaction });
      expect(receipt).toMatchObject({ status: "success", to, from: account.address.toLowerCase() });
      const next = await wallet.prepareTransactionRequest({ to, value: 5n });
      expect(next).toMatchObject({ type: "eip1559", nonce: filled.transaction.nonce + 1, gas: 21_000n });
      // A transaction after a gap waits in the pool, which the error of EIP-7966 says.
      const early = await wallet.signTransaction({ ...next, nonce: next.nonce + 1 } as never);
      const refusal = reader.sendRawTransactionSync({ serializedTransaction: early, timeout: 10 });
      await expect(refusal).rejects.toMatchObject({ code: 4, cause: { data: keccak256(early) } });
      await reader.sendRawTransactionSync({
        serializedTransaction: await wallet.signTransaction(next as never),
      });
    },
  );

  itIfThorough("sees an event over WebSocket while it happens, and each new head", async () => {
    const { reader, watcher, wallet } = clients();
    const contract = await deploy();
    const seen: unknown[] = [];
    const heads: bigint[] = [];
    const both = deferred();
    const check = (): void => {
      if (seen.length > 0 && heads.length > 2) both.resolve();
    };
    const stopEvents = watcher.watchContractEvent({
      ...contract,
      eventName: "Deposited",
      onLogs: (logs) => {
        seen.push(...logs);
        check();
      },
    });
    const stopHeads = watcher.watchBlocks({
      onBlock: ({ number }) => {
        heads.push(number);
        check();
      },
    });
    const hash = await wallet.writeContract({
      ...contract,
      functionName: "deposit",
      args: ["live"],
      value: 1n,
    });
    await reader.waitForTransactionReceipt({ hash });
    await both.promise;
    stopEvents();
    stopHeads();
    expect(seen[0]).toMatchObject({ transactionHash: hash, args: { note: "live" } });
    expect(heads.every((number, index) => index === 0 || number === (heads[index - 1] ?? 0n) + 1n)).toBe(
      true,
    );
  });

  it("decodes a custom error, a reason and a panic from a refused call", async () => {
    const { reader } = clients();
    const contract = await deploy();
    const reasonOf = async (functionName: string, args: readonly unknown[]): Promise<unknown> => {
      const error = await reader
        .simulateContract({ ...contract, account, functionName, args })
        .catch((e: unknown) => e);
      const revert =
        error instanceof BaseError
          ? error.walk((cause) => cause instanceof ContractFunctionRevertedError)
          : error;
      if (!(revert instanceof ContractFunctionRevertedError)) throw error;
      return [revert.data?.errorName, revert.data?.args, revert.reason];
    };
    expect(await reasonOf("withdraw", [5n])).toEqual(["Insufficient", [0n, 5n], undefined]);
    expect(await reasonOf("refuse", [])).toEqual(["Error", ["out of order"], "out of order"]);
    expect(await reasonOf("panic", [99n])).toEqual(["Panic", [0x32n], "Array index is out of bounds."]);
  });

  itIfThorough(
    "estimates so that the transaction passes, and an access list that names the slot",
    async () => {
      const { reader, wallet } = clients();
      const contract = await deploy();
      const gas = await reader.estimateContractGas({
        ...contract,
        account,
        functionName: "deposit",
        args: ["g"],
        value: 1n,
      });
      const hash = await wallet.writeContract({
        ...contract,
        functionName: "deposit",
        args: ["g"],
        value: 1n,
        gas,
      });
      const receipt = await reader.waitForTransactionReceipt({ hash });
      expect(receipt.status).toBe("success");
      expect(receipt.gasUsed).toBeLessThanOrEqual(gas);
      const slot = keccak256(`0x${pad(account.address, { size: 32 }).slice(2)}${"0".repeat(64)}`);
      const list = (await node.rpc("eth_createAccessList", [
        {
          from: account.address,
          to: contract.address,
          data: `0x27e235e3${pad(account.address, { size: 32 }).slice(2)}`,
        },
        "latest",
      ])) as { accessList: { address: string; storageKeys: string[] }[]; gasUsed: string };
      expect(list.accessList).toEqual([{ address: contract.address.toLowerCase(), storageKeys: [slot] }]);
    },
  );

  itIfThorough("keeps nonces in order when many transactions are sent at once", async () => {
    const { reader, wallet } = clients();
    const first = await reader.getTransactionCount({ address: account.address });
    const to = "0x00000000000000000000000000000000000a11ce";
    const order = [4, 0, 3, 1, 2];
    const before = await reader.getBalance({ address: to });
    const hashes = await Promise.all(
      order.map((offset) => wallet.sendTransaction({ to, value: 1n, nonce: first + offset, gas: 21_000n })),
    );
    for (const hash of hashes)
      expect((await reader.waitForTransactionReceipt({ hash })).status).toBe("success");
    expect(await reader.getTransactionCount({ address: account.address })).toBe(first + 5);
    expect((await reader.getBalance({ address: to })) - before).toBe(5n);
  });

  it("gets proofs of presence and absence that an independent trie verifies", async () => {
    const { reader } = clients();
    const contract = await deploy();
    const block = await reader.getBlock();
    const proof = await reader.getProof({
      address: contract.address,
      storageKeys: [pad("0x1"), pad("0x77")],
      blockNumber: block.number,
    });
    const key = hexToBytes(keccak256(contract.address));
    const nodes = proof.accountProof.map((item) => hexToBytes(item));
    const leaf = await verifyMerkleProof(key, nodes, { root: hexToBytes(block.stateRoot) });
    expect(leaf).not.toBeNull();
    const [present, absent] = proof.storageProof;
    expect(present?.value).toBe(1n);
    expect(absent?.value).toBe(0n);
    expect(proof.balance).toBe(3n);
    for (const entry of proof.storageProof) {
      const value = await verifyMerkleProof(
        hexToBytes(keccak256(pad(entry.key, { size: 32 }))),
        entry.proof.map((item) => hexToBytes(item)),
        { root: hexToBytes(proof.storageHash) },
      );
      expect(value === null).toBe(entry.value === 0n);
    }
  });
});

describe("ethers", () => {
  const mnemonic = Mnemonic.fromPhrase(MNEMONIC);
  const key = HDNodeWallet.fromMnemonic(mnemonic, "m/44'/60'/0'/0/2").privateKey;

  itIfThorough("deploys, calls, sends, and receives events over HTTP polling and WebSocket", async () => {
    const provider = new JsonRpcProvider(node.httpUrl, 1337, { staticNetwork: true, pollingInterval: 100 });
    const socket = new WebSocketProvider(node.wsUrl, 1337);
    try {
      const wallet = new NonceManager(new Wallet(key, provider));
      const factory = new ContractFactory(ledger.abi as InterfaceAbi, ledger.bytecode, wallet);
      const deployed = await factory.deploy(1n);
      await deployed.waitForDeployment();
      const address = await deployed.getAddress();
      const contract = new Contract(address, ledger.abi as InterfaceAbi, wallet);
      const listener = new Contract(address, ledger.abi as InterfaceAbi, socket);
      const pushed = deferred<string>();
      const polled = deferred<string>();
      await listener.on("Deposited", (_who: string, _amount: bigint, note: string) => pushed.resolve(note));
      await contract.on("Deposited", (_who: string, _amount: bigint, note: string) => polled.resolve(note));
      const sent = (await contract
        .getFunction("deposit")
        .send("hello", { value: 5n })) as TransactionResponse;
      const receipt = await sent.wait();
      expect(receipt?.status).toBe(1);
      expect(await pushed.promise).toBe("hello");
      expect(await polled.promise).toBe("hello");
      expect(await contract.getFunction("count").staticCall()).toBe(2n);
      await contract.removeAllListeners();
      await listener.removeAllListeners();
    } finally {
      provider.destroy();
      await socket.destroy();
    }
  });

  itIfThorough("decodes a custom error of a failed call", async () => {
    const provider = new JsonRpcProvider(node.httpUrl, 1337, { staticNetwork: true, pollingInterval: 100 });
    const wallet = new NonceManager(new Wallet(key, provider));
    const deployed = await new ContractFactory(ledger.abi as InterfaceAbi, ledger.bytecode, wallet).deploy(
      1n,
    );
    await deployed.waitForDeployment();
    const contract = new Contract(await deployed.getAddress(), ledger.abi as InterfaceAbi, wallet);
    await expect(contract.getFunction("withdraw").staticCall(9n)).rejects.toMatchObject({
      code: "CALL_EXCEPTION",
      revert: { name: "Insufficient", args: [0n, 9n] },
    });
    await expect(contract.getFunction("refuse").staticCall()).rejects.toMatchObject({
      reason: "out of order",
    });
    provider.destroy();
  });
});

describe("cast", () => {
  const cast = async (...args: string[]): Promise<string> => {
    const binary = join(
      createRequire(import.meta.url).resolve(`@foundry-rs/cast-${castPlatform()}/package.json`),
      "..",
      "bin",
      "cast",
    );
    const { stdout } = await promisify(execFile)(binary, args, {
      env: { ...process.env, NO_COLOR: "1", ETH_RPC_URL: node.httpUrl },
    });
    return stdout.trim();
  };
  const sender = mnemonicToAccount(MNEMONIC, { addressIndex: 3 });
  const key = `0x${Buffer.from(sender.getHdKey().privateKey ?? []).toString("hex")}`;

  it("reads the chain", async () => {
    expect(await cast("chain-id")).toBe("1337");
    expect(Number(await cast("block-number"))).toBeGreaterThanOrEqual(0);
    expect(await cast("balance", sender.address)).toBe("10000000000000000000000");
    expect(await cast("client")).toMatch(/^anvil-compatible\/ibex\//);
    expect(JSON.parse(await cast("rpc", "rpc_modules"))).toMatchObject({
      eth: "1.0",
      net: "1.0",
      web3: "1.0",
    });
  });

  it("sends value, deploys, calls and decodes a revert", async () => {
    const to = "0x00000000000000000000000000000000000ca570";
    const sent = JSON.parse(await cast("send", to, "--value", "1ether", "--private-key", key, "--json"));
    expect(sent.status).toBe("0x1");
    expect(await cast("balance", to)).toBe("1000000000000000000");
    const created = JSON.parse(
      await cast("send", "--private-key", key, "--json", "--create", `${ledger.bytecode}${"0".repeat(63)}5`),
    );
    expect(created.status).toBe("0x1");
    expect(await cast("call", created.contractAddress, "count()(uint256)")).toBe("1");
    await expect(cast("call", created.contractAddress, "refuse()")).rejects.toThrow(/out of order/);
    expect(await cast("nonce", sender.address)).toBe("2");
  });
});

function castPlatform(): string {
  return `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
}

function deferred<T = void>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle(value) };
}
