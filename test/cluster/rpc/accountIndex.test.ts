import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeFunctionData, getContractAddress, type Hex, keccak256, pad, toHex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE, DEV_MNEMONIC } from "../../../src/config/devNetwork.ts";
import { toHex as bytesToHex } from "../../../src/primitives/hex.ts";
import { account } from "../../builders/testAccounts.ts";
import { compileTokenContracts } from "../../contracts/tokenContracts.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import {
  type Call,
  creationsIn,
  inOrder,
  type Movement,
  movementsIn,
  readTraffic,
  type Traffic,
} from "../harness/chainTraffic.ts";
import { type NodeProcess, startNodeProcess, temporaryFolder, until } from "../harness/nodeProcess.ts";
import { HEIR, makeVariedChain, type VariedChain } from "../harness/variedChain.ts";

/** What an account did, on a chain with every kind of call and token, against a scan of the whole chain by traces and logs. */

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: Hex | null;
}

interface SearchPage {
  readonly txs: readonly { readonly hash: Hex; readonly blockNumber: Hex }[];
  readonly receipts: readonly { readonly transactionHash: Hex; readonly timestamp: number }[];
  readonly firstPage: boolean;
  readonly lastPage: boolean;
}

const OPTIONS = ["--rpc-http-api=ETH,DEBUG,TRACE,OTS,EXPLORER", "--explorer-index-enabled"];
const holder = mnemonicToAccount(DEV_MNEMONIC, { addressIndex: 6 });
const contract = (nonce: bigint) => getContractAddress({ from: holder.address, nonce }).toLowerCase() as Hex;
const [deeds, stamps, impostor] = [contract(0n), contract(1n), contract(2n)];

let node: NodeProcess;
let chain: VariedChain;
let traffic: Traffic;

beforeAll(async () => {
  node = await startNodeProcess({ options: OPTIONS });
  chain = await makeVariedChain(node);
  await sendTokens();
  traffic = await readTraffic(node);
  await indexed();
});

afterAll(async () => {
  expect(await node?.stop()).toBe(0);
});

/** Transfers of all standards, some to oneself, destroyed tokens, and events that are none. */
async function sendTokens(): Promise<void> {
  const compiled = compileTokenContracts();
  const call = (to: Hex, abi: keyof typeof compiled, functionName: string, args: readonly unknown[]) => ({
    to,
    data: encodeFunctionData({ abi: compiled[abi].abi, functionName, args }),
  });
  const self = holder.address;
  const word = pad(HEIR);
  const planned: { to?: Hex; data: Hex }[] = [
    { data: compiled.Deeds.bytecode },
    { data: compiled.Stamps.bytecode },
    { data: compiled.Impostor.bytecode },
    ...[1n, 2n, 3n].map((id) => call(deeds, "Deeds", "mint", [self, id])),
    call(deeds, "Deeds", "transferFrom", [self, HEIR, 2n]),
    call(deeds, "Deeds", "burn", [3n]),
    call(stamps, "Stamps", "mint", [self, 7n, 100n]),
    call(stamps, "Stamps", "send", [HEIR, 7n, 100n]),
    call(stamps, "Stamps", "send", [self, 7n, 0n]),
    call(stamps, "Stamps", "mintMany", [HEIR, 150n]),
    call(impostor, "Impostor", "shout", [word, word, word, "0x"]),
    call(impostor, "Impostor", "shout", [word, word, word, `0x${"ff".repeat(32)}`]),
    call(impostor, "Impostor", "shout", [word, word, word, `0x${"ff".repeat(64)}`]),
    call(impostor, "Impostor", "shout", [
      word,
      word,
      word,
      `0x${"00".repeat(31)}40${"00".repeat(31)}40${"ff".repeat(32)}`,
    ]),
    call(impostor, "Impostor", "shout", [word, word, word, `0x${"ab".repeat(1000)}`]),
  ];
  const hashes: Hex[] = [];
  for (const [nonce, transaction] of planned.entries()) {
    const raw = await holder.signTransaction({
      chainId: 1337,
      nonce,
      gas: 12_000_000n,
      type: "eip1559",
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      ...transaction,
    });
    hashes.push(keccak256(raw));
    await node.rpc("eth_sendRawTransaction", [raw]);
  }
  await until(
    async () => (await node.rpc("eth_getTransactionReceipt", [hashes.at(-1)])) ?? undefined,
    "the last transfer",
  );
  for (const hash of hashes)
    expect(await node.rpc("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
}

/** Waits until the index has the traffic. */
async function indexed(): Promise<void> {
  await until(async () => {
    const { lastBlock } = await node.rpc<{ lastBlock: Hex | null }>("explorer_getIndexStatus");
    return lastBlock !== null && Number(lastBlock) >= traffic.lastBlock ? true : undefined;
  }, "the index of all blocks");
}

interface Transfer {
  readonly amounts: readonly { readonly tokenId: Hex | null }[];
}

/** All items of a list, page by page; of one id, if one is given. */
async function listed<Item>(method: string, address: Hex, page: object, id?: Hex): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: Hex | null = null; ; ) {
    const answer: Page<Item> = await node.rpc(method, [
      address,
      { ...page, cursor },
      ...(id === undefined ? [] : [id]),
    ]);
    items.push(...answer.items);
    if (answer.next === null) return items;
    cursor = answer.next;
  }
}

/** Hashes of all transactions of an account, the newest first, by Otterscan's paging from either end. */
async function searched(address: Hex, from: "newest" | "oldest", size: number): Promise<Hex[]> {
  const found: Hex[] = [];
  for (let block = 0; ; ) {
    const method = from === "newest" ? "ots_searchTransactionsBefore" : "ots_searchTransactionsAfter";
    const page: SearchPage = await node.rpc(method, [address, block, size]);
    expect(page.receipts.map(({ transactionHash }) => transactionHash)).toEqual(
      page.txs.map(({ hash }) => hash),
    );
    expect(from === "newest" ? page.firstPage : page.lastPage).toBe(block === 0);
    const hashes = page.txs.map(({ hash }) => hash);
    if (from === "newest") found.push(...hashes);
    else found.unshift(...hashes);
    if (from === "newest" ? page.lastPage : page.firstPage) return found;
    block = Number((from === "newest" ? page.txs.at(-1) : page.txs[0])?.blockNumber);
  }
}

describe.runIf(IS_THOROUGH)("the transactions of an account", () => {
  it("are those in whose calls it took part, for every address of the chain and from either end", async () => {
    const parties = new Map<string, Hex[]>();
    for (const { hash, call } of traffic.transactions)
      for (const address of new Set(inOrder(call).flatMap(({ from, to }) => [from, to ?? []].flat())))
        parties.set(address, [hash, ...(parties.get(address) ?? [])]);
    expect(parties.size).toBeGreaterThan(15);
    for (const [address, hashes] of parties) {
      expect(await searched(address as Hex, "newest", 2)).toEqual(hashes);
      expect(await searched(address as Hex, "oldest", 3)).toEqual(hashes);
      const own = await listed<{ transactionHash: Hex }>("explorer_getTransactionsOf", address as Hex, {
        size: 4,
      });
      expect(own.map(({ transactionHash }) => transactionHash)).toEqual(hashes);
    }
    const nobody = await node.rpc<SearchPage>("ots_searchTransactionsBefore", [chain.unfunded, 0, 25]);
    expect(nobody).toEqual({ txs: [], receipts: [], firstPage: true, lastPage: true });
  });

  it("are found by nonce", async () => {
    for (const { hash, from, nonce } of traffic.transactions)
      expect(await node.rpc("ots_getTransactionBySenderAndNonce", [from, nonce])).toBe(hash);
    expect(await node.rpc("ots_getTransactionBySenderAndNonce", [holder.address, 1000])).toBeNull();
    expect(await node.rpc("ots_getTransactionBySenderAndNonce", [deeds, 0])).toBeNull();
  });

  it("are in pages of at most 25, and a block is not divided", async () => {
    const page = await node.rpc<SearchPage>("ots_searchTransactionsBefore", [holder.address, 0, 1]);
    const newest = page.txs[0]?.blockNumber;
    const inBlock = traffic.transactions.filter(
      ({ block, from }) => toHex(block) === newest && from === holder.address.toLowerCase(),
    );
    expect(page.txs).toHaveLength(inBlock.length);
    await expect(node.rpc("ots_searchTransactionsBefore", [holder.address, 0, 26])).rejects.toMatchObject({
      message: "max allowed page size: 25",
    });
    await expect(
      node.rpc("explorer_getTransactionsOf", [holder.address, { size: 101 }]),
    ).rejects.toMatchObject({
      code: -32602,
    });
    await expect(
      node.rpc("explorer_getTransactionsOf", [holder.address, { cursor: "0x12" }]),
    ).rejects.toMatchObject({ code: -32602 });
  });
});

describe.runIf(IS_THOROUGH)("the creator of a contract", () => {
  it("is who created it last, and known only where the contract exists", async () => {
    const creations = new Map<string, { hash: Hex; creator: Hex }>();
    for (const { hash, call } of traffic.transactions)
      for (const { contract: created, creator } of creationsIn(call))
        creations.set(created, { hash, creator });
    expect(creations.size).toBeGreaterThan(6);
    for (const [address, creator] of creations) {
      const hasCode = (await node.rpc("eth_getCode", [address, "latest"])) !== "0x";
      expect(await node.rpc("ots_hasCode", [address, "latest"])).toBe(hasCode);
      expect(await node.rpc("ots_getContractCreator", [address])).toEqual(hasCode ? creator : null);
    }
    expect(await node.rpc("ots_getContractCreator", [holder.address])).toBeNull();
    expect(await node.rpc("ots_hasCode", [deeds, 0])).toBe(false);
  });
});

describe.runIf(IS_THOROUGH)("a transaction", () => {
  it("is told as a list of its calls, and of the ether that moved within", async () => {
    const kinds = new Set<string>();
    for (const { hash, call } of traffic.transactions) {
      const calls = inOrder(call).filter(({ isPrecompile }) => !isPrecompile);
      const told = await node.rpc<Record<string, unknown>[]>("ots_traceTransaction", [hash]);
      expect(told).toEqual(calls.map(asOtterscan));
      for (const { type } of told) kinds.add(type as string);
      const operations = inOrder(call).filter(
        ({ depth, type, value }) => depth > 0 && isOperation(type, value),
      );
      expect(await node.rpc("ots_getInternalOperations", [hash])).toEqual(
        operations.map(({ type, from, to, value }) => ({ type: OPERATIONS.indexOf(type), from, to, value })),
      );
    }
    expect([...kinds].sort()).toEqual([
      "CALL",
      "CREATE",
      "CREATE2",
      "DELEGATECALL",
      "SELFDESTRUCT",
      "STATICCALL",
    ]);
  });

  it("has the data of a revert, and none for other ends", async () => {
    const errorOf = (name: string) => node.rpc<Hex>("ots_getTransactionError", [chain.hashes[name]]);
    expect(await errorOf("provoke")).toMatch(/^0x08c379a0/);
    for (const name of ["token transfer", "out of gas", "silent", "failed creation"])
      expect(await errorOf(name)).toBe("0x");
    await expect(node.rpc("ots_getTransactionError", [`0x${"11".repeat(32)}`])).rejects.toMatchObject({
      code: -32000,
    });
  });
});

describe.runIf(IS_THOROUGH)("a block", () => {
  it("has details without its transactions, and those in pages from its end", async () => {
    expect(await node.rpc("ots_getApiLevel")).toBe(8);
    for (let number = 0; number <= traffic.lastBlock; number++) {
      const whole = await node.rpc<Record<string, unknown>>("eth_getBlockByNumber", [toHex(number), true]);
      const { transactions, ...rest } = whole as { transactions: Record<string, unknown>[]; hash: Hex };
      const receipts = await node.rpc<Record<string, Hex>[]>("eth_getBlockReceipts", [toHex(number)]);
      const fees = receipts.reduce(
        (sum, { gasUsed, effectiveGasPrice }) => sum + BigInt(gasUsed ?? 0) * BigInt(effectiveGasPrice ?? 0),
        0n,
      );
      const block = { ...rest, logsBloom: null, transactionCount: transactions.length };
      const details = {
        block,
        issuance: { blockReward: "0x0", uncleReward: "0x0", issuance: "0x0" },
        totalFees: toHex(fees),
      };
      expect(await node.rpc("ots_getBlockDetails", [number])).toEqual(details);
      expect(await node.rpc("ots_getBlockDetailsByHash", [rest.hash])).toEqual(details);
      expect(await node.rpc("erigon_getHeaderByNumber", [number])).toEqual(rest);
      const pages: { fullblock: { transactions: unknown[] }; receipts: unknown[] }[] = [];
      for (let page = 0; page * 4 <= transactions.length; page++)
        pages.unshift(await node.rpc("ots_getBlockTransactions", [number, page, 4]));
      expect(pages.flatMap(({ fullblock }) => fullblock.transactions)).toEqual(
        transactions.map((each) => ({ ...each, input: (each["input"] as string).slice(0, 10) })),
      );
      expect(pages.flatMap((page) => page.receipts)).toEqual(
        receipts.map((each) => ({ ...each, logs: null, logsBloom: null })),
      );
    }
    expect(await node.rpc("ots_getBlockDetails", [1_000_000])).toBeNull();
    expect(await node.rpc("erigon_getHeaderByNumber", ["latest"])).toHaveProperty("hash");
    await expect(node.rpc("ots_getBlockDetailsByHash", [`0x${"11".repeat(32)}`])).rejects.toMatchObject({
      code: -32000,
    });
  });
});

describe.runIf(IS_THOROUGH)("tokens", () => {
  it("have the transfers that the logs tell, by account and by token", async () => {
    const movements = movementsIn(traffic.logs);
    const places = (all: readonly Movement[]) => all.map(({ logIndex, block }) => `${block}/${logIndex}`);
    const accounts = new Set(movements.flatMap(({ from, to }) => [from, to]));
    const tokens = new Set(movements.map(({ token }) => token));
    expect([accounts.size, tokens.size]).toEqual([expect.any(Number), 4]);
    const shown = async (method: string, address: Hex, order: string) =>
      (await listed<Record<string, Hex>>(method, address, { size: 3, order })).map(
        ({ blockNumber, logIndex }) => `${Number(blockNumber)}/${Number(logIndex)}`,
      );
    for (const account of accounts) {
      const own = places(movements.filter(({ from, to }) => from === account || to === account));
      expect(await shown("explorer_getTokenTransfers", account, "oldest")).toEqual(own);
      expect(await shown("explorer_getTokenTransfers", account, "newest")).toEqual(own.toReversed());
    }
    for (const token of tokens)
      expect(await shown("explorer_getTransfersOfToken", token, "oldest")).toEqual(
        places(movements.filter((one) => one.token === token)),
      );
    const [batch] = await listed<Record<string, unknown>>("explorer_getTransfersOfToken", stamps, {
      size: 1,
    });
    expect(batch).toMatchObject({
      standard: "ERC-1155",
      isCut: true,
      operator: holder.address.toLowerCase(),
      to: HEIR,
    });
    expect(batch?.["amounts"]).toHaveLength(100);
    expect(batch).toHaveProperty("amounts.4", { tokenId: toHex(1004), value: "0x5" });
  });

  it("with ids have transfers and holders of each, as the lists of the whole token tell", async () => {
    for (const [token, ids] of [
      [deeds, [1n, 2n, 3n]],
      [stamps, [7n, 1000n, 1099n, 1100n]],
    ] as const) {
      const transfers = await listed<Transfer>("explorer_getTransfersOfToken", token, { size: 100 });
      const holders = await listed<{ tokenId: Hex }>("explorer_getTokenHolders", token, { size: 100 });
      for (const id of ids.map((number) => toHex(number))) {
        const moved = transfers.filter(({ amounts }) => amounts.some(({ tokenId }) => tokenId === id));
        expect(await listed("explorer_getTransfersOfToken", token, { size: 1 }, id)).toEqual(moved);
        const held = holders.filter(({ tokenId }) => tokenId === id);
        expect(await listed("explorer_getTokenHolders", token, { size: 1 }, id)).toEqual(held);
      }
    }
    const coin = chain.contracts.token.toLowerCase() as Hex;
    expect(await listed("explorer_getTransfersOfToken", coin, { size: 1 }, "0x0")).toEqual([]);
  });

  it("have holders with the balances that their contracts tell", async () => {
    const holders = (token: Hex, size = 100) =>
      listed<{ holder: Hex; tokenId: Hex | null; balance: Hex | null }>("explorer_getTokenHolders", token, {
        size,
      });
    const owned = await holders(deeds, 1);
    expect(owned).toEqual(
      [
        { holder: HEIR, standard: "ERC-721", tokenId: "0x2", balance: "0x1" },
        { holder: holder.address.toLowerCase(), standard: "ERC-721", tokenId: "0x1", balance: "0x1" },
      ].sort((one, other) => (one.holder < other.holder ? -1 : 1)),
    );
    const stamped = await holders(stamps, 40);
    expect(stamped).toHaveLength(101);
    expect(stamped.every((one) => one.holder === HEIR)).toBe(true);
    expect(stamped[0]).toMatchObject({ tokenId: "0x7", balance: "0x64" });
    const token = chain.contracts.token.toLowerCase() as Hex;
    for (const { holder: account, balance } of await holders(token))
      expect(
        BigInt(
          await node.rpc<Hex>("eth_call", [
            { to: token, data: `0x70a08231${pad(account).slice(2)}` },
            "latest",
          ]),
        ),
      ).toBe(BigInt(balance ?? -1));
    const held = await listed<{ token: Hex; standard: string }>("explorer_getTokensOf", HEIR, { size: 7 });
    expect(new Set(held.map((one) => one.token))).toEqual(new Set([token, deeds, stamps, impostor]));
  });

  it("that lie harm nobody", async () => {
    expect(await node.rpc("explorer_getToken", [impostor])).toEqual({
      standard: expect.stringMatching(/^ERC-/) as string,
      name: null,
      symbol: "<script>alert(1)</script> and much more than sixty-four characte",
      decimals: null,
      totalSupply: null,
    });
    const held = await node.rpc<Page<{ balance: Hex | null }>>("explorer_getTokenHolders", [impostor]);
    expect(held.items.filter(({ balance }) => balance !== null)).toEqual([]);
    expect(await node.rpc("explorer_getToken", [chain.contracts.token])).toEqual({
      standard: "ERC-20",
      name: "Menagerie",
      symbol: "MNG",
      decimals: "0x12",
      totalSupply: toHex(1_000_000),
    });
    expect(await node.rpc("explorer_getToken", [holder.address])).toBeNull();
  });
});

describe.runIf(IS_THOROUGH)("a node", () => {
  const withoutLater = (last: number) =>
    traffic.transactions
      .filter(({ block, from }) => block <= last && from === holder.address.toLowerCase())
      .map(({ hash }) => hash)
      .toReversed();

  it("has the same index after kill -9, and after the index was deleted", async () => {
    const { dataPath } = node;
    for (const isDeleted of [false, true]) {
      await node.kill();
      if (isDeleted) rmSync(join(dataPath, "explorer-index"), { recursive: true });
      node = await startNodeProcess({ dataPath, options: OPTIONS });
      await indexed();
      expect(await searched(holder.address, "newest", 25)).toEqual(withoutLater(traffic.lastBlock));
    }
  });

  it("leaves out the blocks that debug_setHead removes, from its answer on", async () => {
    const { dataPath } = node;
    await node.stop();
    // Not the validator's key: that one's votes bind it to its blocks.
    const key = join(temporaryFolder(), "key");
    writeFileSync(key, bytesToHex(account(7).privateKey), { mode: 0o600 });
    const follower = [
      `--genesis-file=${DEV_GENESIS_FILE}`,
      `--node-private-key-file=${key}`,
      "--p2p-enabled=false",
    ];
    node = await startNodeProcess({ dataPath, options: [...OPTIONS, ...follower, "--rpc-http-enabled"] });
    await indexed();
    const last = (traffic.transactions.at(-1)?.block ?? 0) - 1;
    expect(await node.rpc("debug_setHead", [toHex(last)])).toBe("Success");
    // Blocks since the last mark before them may be indexed again first.
    expect(withoutLater(last)).toEqual(expect.arrayContaining(await searched(holder.address, "newest", 25)));
    const { lastBlock } = await node.rpc<{ lastBlock: Hex }>("explorer_getIndexStatus");
    expect(Number(lastBlock)).toBeLessThanOrEqual(last);
    await until(async () => {
      const status = await node.rpc<{ lastBlock: Hex }>("explorer_getIndexStatus");
      return Number(status.lastBlock) === last ? true : undefined;
    }, "the index up to the new head");
    expect(await searched(holder.address, "oldest", 25)).toEqual(withoutLater(last));
  });
});

/** How Otterscan's types are numbered. */
const OPERATIONS = ["CALL", "SELFDESTRUCT", "CREATE", "CREATE2"];

function isOperation(type: string, value: Hex | null): boolean {
  return type === "CALL" ? BigInt(value ?? 0) > 0n : OPERATIONS.includes(type);
}

function asOtterscan({ type, depth, from, to, value, input, output }: Call): Record<string, unknown> {
  const movesNothing = type === "STATICCALL" || type === "DELEGATECALL";
  return {
    type: depth === 0 ? "CALL" : type,
    depth,
    from,
    to,
    value: movesNothing ? null : value,
    input,
    output,
  };
}
