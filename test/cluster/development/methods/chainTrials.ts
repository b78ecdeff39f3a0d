import { gzipSync } from "node:zlib";
import { eachForm, FAR, type Trial, trial, WRONG_FLAGS, WRONG_NUMBERS } from "./trial.ts";
import { bytes32, GAS_PRICE, OUTSIDER, quantity } from "./trialChain.ts";

/** Snapshots, the pool, what blocks have, and the node itself. */

const SNAPSHOTS: readonly Trial[] = [
  ...eachForm(
    ["evm_revert", "anvil_revert"],
    {
      ...WRONG_NUMBERS,
      "an id that is none": ["0xffff"],
      "an id that is none, as a number": [65_535],
      zero: ["0x0"],
      "more than 256 bits": [`0x1${"0".repeat(64)}`],
    },
    (chain, method, params) => chain.ask(method, ...params),
  ),
  ...["evm", "anvil"].flatMap((group) => [
    trial(`${group}_snapshot`, "and back", async (chain) => {
      const before = await chain.newest();
      const id = await chain.get<string>(`${group}_snapshot`);
      await chain.mined(await chain.transfer(chain.accounts[0], { to: OUTSIDER }));
      await chain.get("evm_mine");
      const reverted = await chain.ask(`${group}_revert`, id);
      const again = await chain.ask(`${group}_revert`, id);
      return {
        idType: /^0x[1-9a-f][0-9a-f]*$/.test(id) || id === "0x0" ? "quantity" : id,
        reverted,
        again,
        blocks: (await chain.newest()).number - before.number,
        balance: await chain.ask("eth_getBalance", OUTSIDER, "latest"),
      };
    }),
    trial(`${group}_revert`, "an id as a number", async (chain) => {
      const id = await chain.get<string>(`${group}_snapshot`);
      return chain.ask(`${group}_revert`, Number(id));
    }),
    trial(`${group}_revert`, "to the first of two", async (chain) => {
      const first = await chain.get<string>(`${group}_snapshot`);
      await chain.get("evm_mine");
      const second = await chain.get<string>(`${group}_snapshot`);
      return [await chain.ask(`${group}_revert`, first), await chain.ask(`${group}_revert`, second)];
    }),
    trial(`${group}_revert`, "to the second, then to the first", async (chain) => {
      const first = await chain.get<string>(`${group}_snapshot`);
      await chain.get("evm_mine");
      const second = await chain.get<string>(`${group}_snapshot`);
      return [await chain.ask(`${group}_revert`, second), await chain.ask(`${group}_revert`, first)];
    }),
    trial(`${group}_revert`, "with time moved since", async (chain) => {
      const before = await chain.newest();
      const id = await chain.get<string>(`${group}_snapshot`);
      await chain.get("evm_increaseTime", 10 * FAR);
      await chain.get("evm_mine");
      await chain.get(`${group}_revert`, id);
      await chain.get("evm_mine");
      return chain.thousandsSince(before);
    }),
    trial(`${group}_revert`, "with what waits in the pool", async (chain) => {
      await chain.get("evm_setAutomine", false);
      const [kept, dropped] = [await chain.transfer(), undefined as string | undefined];
      const id = await chain.get<string>(`${group}_snapshot`);
      const later = dropped ?? (await chain.transfer());
      await chain.get(`${group}_revert`, id);
      const seen = await Promise.all(
        [kept, later].map((hash) => chain.get("eth_getTransactionByHash", hash)),
      );
      return seen.map((transaction) => transaction !== null);
    }),
  ]),
];

const POOL: readonly Trial[] = [
  ...eachForm(
    ["hardhat_dropTransaction", "anvil_dropTransaction"],
    {
      "no parameter": [],
      null: [null],
      "a short hash": ["0x12"],
      "a hash that is unknown": [bytes32(7)],
      "a number": [7],
    },
    (chain, method, params) => chain.ask(method, ...params),
  ),
  ...["hardhat_dropTransaction", "anvil_dropTransaction"].flatMap((method) => [
    trial(method, "one that waits", async (chain) => {
      await chain.get("evm_setAutomine", false);
      const hash = await chain.transfer();
      const answer = await chain.ask(method, hash);
      return { answer, left: (await chain.get("eth_getTransactionByHash", hash)) !== null };
    }),
    trial(method, "one that is mined", async (chain) =>
      chain.ask(method, await chain.mined(await chain.transfer())),
    ),
  ]),
  ...["anvil_dropAllTransactions", "hardhat_dropAllTransactions", "anvil_removePoolTransactions"].map(
    (method) =>
      trial(method, "two that wait, and one of another account", async (chain) => {
        await chain.get("evm_setAutomine", false);
        const hashes = [
          await chain.transfer(),
          await chain.transfer(),
          await chain.transfer(chain.accounts[2]),
        ];
        const answer = await chain.ask(
          method,
          ...(method === "anvil_removePoolTransactions" ? [chain.accounts[0]] : []),
        );
        const seen = await Promise.all(hashes.map((hash) => chain.get("eth_getTransactionByHash", hash)));
        return { answer, left: seen.map((transaction) => transaction !== null) };
      }),
  ),
  ...eachForm(
    ["anvil_removePoolTransactions"],
    {
      "no parameter": [],
      null: [null],
      "an account without transactions": [OUTSIDER],
      "a short address": ["0x12"],
    },
    (chain, method, params) => chain.ask(method, ...params),
  ),
];

const COINBASE = `0x${"c0".repeat(20)}`;

const BLOCK_FIELDS: readonly Trial[] = [
  ...eachForm(
    ["hardhat_setNextBlockBaseFeePerGas", "anvil_setNextBlockBaseFeePerGas"],
    { ...WRONG_NUMBERS, zero: ["0x0"], one: ["0x1"] },
    (chain, method, params) => chain.ask(method, ...params),
  ),
  ...eachForm(
    ["hardhat_setMinGasPrice", "anvil_setMinGasPrice"],
    { "no parameter": [], one: ["0x1"] },
    (chain, method, params) => chain.ask(method, ...params),
  ),
  ...eachForm(
    ["hardhat_setCoinbase", "anvil_setCoinbase"],
    { "no parameter": [], "an address": [COINBASE], "a short address": ["0x12"] },
    async (chain, method, params) => {
      const answer = await chain.ask(method, ...params);
      await chain.get("evm_mine");
      const { miner } = await chain.get<{ readonly miner: string }>("eth_getBlockByNumber", "latest", false);
      // A node that takes it keeps it for the trials that follow.
      return params[0] === COINBASE ? { answer, isSet: miner === COINBASE } : answer;
    },
  ),
  ...eachForm(
    ["hardhat_setPrevRandao"],
    { "no parameter": [], "32 bytes": [bytes32(5)], "fewer bytes": ["0x12"] },
    (chain, method, params) => chain.ask(method, ...params),
  ),
  ...eachForm(
    ["hardhat_setLoggingEnabled", "anvil_setLoggingEnabled"],
    { ...WRONG_FLAGS, true: [true], false: [false] },
    (chain, method, params) => chain.ask(method, ...params),
  ),
];

const ROLLING_BACK: readonly Trial[] = [
  ...eachForm(
    ["anvil_rollback"],
    { ...WRONG_NUMBERS, "a number": [2], hex: ["0x2"], zero: [0], "more than there are": [1_000_000_000] },
    async (chain, method, params) => {
      for (let made = 0; made < 3; made++) await chain.get("evm_mine");
      return chain.blocks(method, ...params);
    },
  ),
  trial("anvil_rollback", "of a transaction", async (chain) => {
    const hash = await chain.transfer(chain.accounts[0], { to: OUTSIDER });
    await chain.mined(hash);
    await chain.get("anvil_rollback", 1);
    return {
      balance: await chain.ask("eth_getBalance", OUTSIDER, "latest"),
      isKnown: (await chain.get("eth_getTransactionByHash", hash)) !== null,
    };
  }),
  ...Object.entries({
    "no parameter": [],
    null: [null],
    "more than there are": [1_000_000_000, []],
    "a number alone": [2],
    "nothing new": [2, []],
    "a block that is not there": [2, [[{ value: "0x1" }, 2]]],
  }).map(([form, params]) =>
    trial("anvil_reorg", form, async (chain) => {
      for (let made = 0; made < 3; made++) await chain.get("evm_mine");
      const before = await chain.newest();
      const { hash } = await chain.get<{ readonly hash: string }>("eth_getBlockByNumber", "latest", false);
      const answer = await chain.ask("anvil_reorg", ...params);
      const after = await chain.get<{ readonly hash: string }>("eth_getBlockByNumber", "latest", false);
      return { answer, blocks: (await chain.newest()).number - before.number, isSame: after.hash === hash };
    }),
  ),
  trial("anvil_reorg", "transactions of its own", async (chain) => {
    for (let made = 0; made < 3; made++) await chain.get("evm_mine");
    const { number } = await chain.newest();
    const [from] = chain.accounts;
    const gift = (value: string) => ({ from, to: OUTSIDER, value, gas: "0x5208", gasPrice: GAS_PRICE });
    const answer = await chain.ask("anvil_reorg", 3, [
      [gift("0x1"), 0],
      [gift("0x2"), 2],
      [gift("0x4"), 0],
    ]);
    const block = (at: number) =>
      chain.get<{ readonly transactions: readonly string[] }>("eth_getBlockByNumber", quantity(at), false);
    const blocks = await Promise.all([number - 2, number - 1, number].map(block));
    return {
      answer,
      transactions: blocks.map(({ transactions }) => transactions.length),
      balance: await chain.ask("eth_getBalance", OUTSIDER, "latest"),
    };
  }),
  trial("anvil_reorg", "a transaction that was mined", async (chain) => {
    const hash = await chain.transfer(chain.accounts[0], { to: OUTSIDER });
    await chain.mined(hash);
    await chain.get("anvil_reorg", 1, []);
    return {
      isMined: (await chain.get("eth_getTransactionReceipt", hash)) !== null,
      balance: await chain.ask("eth_getBalance", OUTSIDER, "latest"),
    };
  }),
];

/** A dump of these accounts alone, as anvil writes it. */
function dumpWith(accounts: object): string {
  const others = { best_block_number: null, blocks: [], transactions: [], historical_states: null };
  return `0x${gzipSync(JSON.stringify({ block: null, accounts, ...others })).toString("hex")}`;
}

const OTHERS: readonly Trial[] = [
  ...["hardhat_metadata", "anvil_metadata"].map((method) =>
    trial(method, "members", async (chain) => {
      const metadata = await chain.get<Record<string, unknown>>(method);
      return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, typeof value]));
    }),
  ),
  trial("anvil_nodeInfo", "members", async (chain) => {
    const info = await chain.get<Record<string, unknown>>("anvil_nodeInfo");
    return Object.fromEntries(Object.entries(info).map(([name, value]) => [name, typeof value]));
  }),
  trial("anvil_setRpcUrl", "a URL", (chain) => chain.ask("anvil_setRpcUrl", "http://127.0.0.1:1")),
  trial("anvil_setChainId", "a number", async (chain) => {
    const answer = await chain.ask("anvil_setChainId", 1338);
    const chainId = await chain.ask("eth_chainId");
    await chain.ask("anvil_setChainId", 1337);
    return { answer, chainId };
  }),
  ...["anvil", "hardhat"].flatMap((group) => [
    trial(`${group}_dumpState`, "no parameter", async (chain) => {
      const state = await chain.ask(`${group}_dumpState`);
      return typeof state === "string" ? "data" : state;
    }),
    trial(`${group}_loadState`, "no state", (chain) => chain.ask(`${group}_loadState`, "0x12")),
    trial(`${group}_loadState`, "a state of its own", async (chain) => {
      await chain.ask("hardhat_setBalance", OUTSIDER, "0x5");
      const state = await chain.get(`${group}_dumpState`);
      await chain.ask("hardhat_setBalance", OUTSIDER, "0x6");
      const answer = await chain.ask(`${group}_loadState`, state);
      return { answer, balance: await chain.ask("eth_getBalance", OUTSIDER, "latest") };
    }),
    trial(`${group}_loadState`, "the height of the chain afterwards", async (chain) => {
      const before = await chain.newest();
      const state = await chain.get(`${group}_dumpState`);
      for (let made = 0; made < 3; made++) await chain.get("evm_mine");
      await chain.get(`${group}_loadState`, state);
      return (await chain.newest()).number - before.number;
    }),
    trial(`${group}_loadState`, "an account that is there", async (chain) => {
      await chain.ask("hardhat_setNonce", OUTSIDER, "0x9");
      await chain.ask("hardhat_setStorageAt", OUTSIDER, "0x1", bytes32(1));
      const account = { nonce: 3, balance: "0x7", code: "0x6001", storage: { [bytes32(2)]: bytes32(3) } };
      const answer = await chain.ask(`${group}_loadState`, dumpWith({ [OUTSIDER]: account }));
      const seen = [
        await chain.ask("eth_getBalance", OUTSIDER, "latest"),
        await chain.ask("eth_getTransactionCount", OUTSIDER, "latest"),
        await chain.ask("eth_getCode", OUTSIDER, "latest"),
        Number(await chain.get("eth_getStorageAt", OUTSIDER, "0x1", "latest")),
        Number(await chain.get("eth_getStorageAt", OUTSIDER, "0x2", "latest")),
      ];
      return { answer, seen };
    }),
  ]),
  trial("anvil_getBlobByHash", "a hash that is unknown", (chain) =>
    chain.ask("anvil_getBlobByHash", bytes32(1)),
  ),
  trial("anvil_getBlobsByTransactionHash", "a hash that is unknown", (chain) =>
    chain.ask("anvil_getBlobsByTransactionHash", bytes32(1)),
  ),
  trial(
    "anvil_getGenesisTime",
    "as shipped",
    async (chain) => typeof (await chain.ask("anvil_getGenesisTime")),
  ),
];

/** These come last, because no snapshot outlives them. */
const RESETS: readonly Trial[] = ["hardhat_reset", "anvil_reset"].flatMap((method) => [
  ...eachForm(
    [method],
    {
      "no parameter": [],
      null: [null],
      "an empty object": [{}],
      "a word": ["abc"],
    },
    async (chain, name, params) => {
      for (let made = 0; made < 3; made++) await chain.get("evm_mine");
      const answer = await chain.ask(name, ...params);
      const { number } = await chain.newest();
      return { answer, isReset: number < 2, isAtGenesis: number === 0 };
    },
  ),
  {
    ...trial(method, "another chain", (chain) =>
      chain.ask(method, { forking: { jsonRpcUrl: "http://127.0.0.1:1" } }),
    ),
    notAskedOf: "hardhat" as const,
  },
  trial(method, "what is left", async (chain) => {
    await chain.get("hardhat_setBalance", OUTSIDER, "0x5");
    await chain.get("evm_increaseTime", 10 * FAR);
    const id = await chain.get("evm_snapshot");
    await chain.get(method);
    const balance = await chain.ask("eth_getBalance", OUTSIDER, "latest");
    const genesis = await chain.newest();
    const now = Math.floor(Date.now() / 1000);
    await chain.get("evm_mine");
    const next = await chain.newest();
    return {
      balance,
      reverted: await chain.ask("evm_revert", id),
      genesisAgo: Math.round((now - genesis.timestamp) / 1000) > 1000 ? "long" : "now",
      nextIn: Math.round((next.timestamp - now) / 1000),
    };
  }),
]);

export const CHAIN_TRIALS: readonly Trial[] = [
  ...SNAPSHOTS,
  ...POOL,
  ...BLOCK_FIELDS,
  ...ROLLING_BACK,
  ...OTHERS,
];
export { RESETS as LAST_TRIALS };
