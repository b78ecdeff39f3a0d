import { eachForm, FAR, type Trial, trial, WRONG_FLAGS, WRONG_NUMBERS } from "./trial.ts";
import { OUTSIDER, quantity, type TrialChain } from "./trialChain.ts";

/** Blocks on demand, and their time. */

const DAY = 86_400;

const MINING: readonly Trial[] = [
  ...eachForm(["evm_mine"], { ...WRONG_NUMBERS, "an empty object": [{}] }, (chain, method, params) =>
    chain.blocks(method, ...params),
  ),
  ...["a number", "hex", "decimal text"].map((form) =>
    trial("evm_mine", `a time as ${form}`, async (chain) => {
      const before = await chain.newest();
      const time = before.timestamp + FAR;
      const sent = { "a number": time, hex: quantity(time), "decimal text": `${time}` }[form];
      const mined = await chain.blocks("evm_mine", sent);
      return { mined, seconds: (await chain.newest()).timestamp - before.timestamp };
    }),
  ),
  ...Object.entries({ "an earlier time": -10, "its parent's time": 0 }).map(([form, seconds]) =>
    trial("evm_mine", form, async (chain) =>
      chain.blocks("evm_mine", (await chain.newest()).timestamp + seconds),
    ),
  ),
  trial("evm_mine", "time 0", async (chain) => chain.blocks("evm_mine", 0)),
  ...["evm_mine", "evm_mine_detailed", "anvil_mine_detailed"].flatMap((method) => [
    trial(method, "several blocks", async (chain) =>
      withoutBlocks(await chain.blocks(method, { blocks: 3 })),
    ),
    trial(method, "no blocks", async (chain) => withoutBlocks(await chain.blocks(method, { blocks: 0 }))),
    trial(method, "several blocks at a time", async (chain) => {
      const timestamp = (await chain.newest()).timestamp + FAR;
      const mined = withoutBlocks(await chain.blocks(method, { blocks: 3, timestamp }));
      return { mined, lastLater: (await chain.newest()).timestamp - timestamp };
    }),
  ]),
  ...["evm_mine_detailed", "anvil_mine_detailed"].map((method) =>
    trial(method, "a block with transactions", async (chain) => {
      await chain.get("evm_setAutomine", false);
      await chain.transfer();
      const [block] = await chain.get<readonly Record<string, unknown>[]>(method);
      const [transaction] = (block?.["transactions"] ?? []) as readonly Record<string, unknown>[];
      return {
        block: Object.keys(block ?? {})
          .filter((name) => MINED_MEMBERS.includes(name))
          .sort(),
        transaction: Object.keys(transaction ?? {})
          .filter((name) => MINED_MEMBERS.includes(name))
          .sort(),
      };
    }),
  ),
  ...eachForm(
    ["hardhat_mine", "anvil_mine"],
    {
      ...WRONG_NUMBERS,
      "a number": [3],
      hex: ["0x3"],
      "decimal text": ["3"],
      "no blocks": ["0x0"],
      "a null for the seconds": ["0x2", null],
      "a word for the seconds": ["0x2", "abc"],
    },
    (chain, method, params) => chain.blocks(method, ...params),
  ),
  ...["hardhat_mine", "anvil_mine"].flatMap((method) =>
    Object.entries({ hex: "0x3c", "a number": 60, zero: "0x0" }).map(([form, seconds]) =>
      trial(method, `seconds between blocks as ${form}`, async (chain) => {
        const mined = await chain.blocks(method, "0x4", seconds);
        return { mined, spacing: await chain.spacing(3) };
      }),
    ),
  ),
  {
    ...trial("hardhat_mine", "a million blocks", (chain) => chain.blocks("hardhat_mine", "0xf4240")),
    notAskedOf: "anvil",
  },
];

const MINED_MEMBERS = [
  "number",
  "hash",
  "timestamp",
  "transactions",
  "miner",
  "blockHash",
  "from",
  "input",
  "output",
];

/** Whether a call was answered by a result, which differs from node to node. */
function isAnswered(seen: unknown): boolean {
  return typeof seen === "string";
}

/** Blocks that are returned whole have members that differ by their consensus. */
function withoutBlocks(seen: unknown): unknown {
  const { answer } = seen as { readonly answer: unknown };
  return Array.isArray(answer) ? { ...(seen as object), answer: answer.length } : seen;
}

const TIME: readonly Trial[] = [
  ...eachForm(
    ["evm_increaseTime", "anvil_increaseTime"],
    { ...WRONG_NUMBERS, "a number": [FAR], hex: [quantity(FAR)], "decimal text": [`${FAR}`], zero: [0] },
    async (chain, method, params) => {
      const before = await chain.newest();
      const answer = await chain.ask(method, ...params);
      await chain.get("evm_mine");
      return { answer: aboutTime(answer), thousands: await chain.thousandsSince(before) };
    },
  ),
  ...["evm_increaseTime", "anvil_increaseTime"].map((method) =>
    trial(method, "twice", async (chain) => {
      const before = await chain.newest();
      await chain.get(method, FAR);
      await chain.get("evm_mine");
      await chain.get(method, FAR);
      await chain.get("evm_mine");
      return chain.thousandsSince(before);
    }),
  ),
  ...eachForm(
    ["evm_setNextBlockTimestamp", "anvil_setNextBlockTimestamp"],
    { ...WRONG_NUMBERS, zero: [0] },
    (chain, method, params) => chain.ask(method, ...params),
  ),
  ...["evm_setNextBlockTimestamp", "anvil_setNextBlockTimestamp"].flatMap((method) => [
    ...["a number", "hex", "decimal text"].map((form) =>
      trial(method, form, async (chain) => {
        const before = await chain.newest();
        const time = before.timestamp + FAR;
        const answer = await chain.ask(
          method,
          { "a number": time, hex: quantity(time), "decimal text": `${time}` }[form],
        );
        await chain.get("evm_mine");
        const exact = (await chain.newest()).timestamp - before.timestamp;
        await chain.get("evm_mine");
        return {
          answer: answer === `${time}` ? "the time" : answer,
          exact,
          next: await chain.thousandsSince(before),
        };
      }),
    ),
    ...Object.entries({ "an earlier time": -10, "the newest block's time": 0 }).map(([form, seconds]) =>
      trial(method, form, async (chain) => chain.ask(method, (await chain.newest()).timestamp + seconds)),
    ),
    trial(method, "for a transaction", async (chain) => {
      const before = await chain.newest();
      await chain.get(method, before.timestamp + DAY);
      await chain.mined(await chain.transfer());
      return (await chain.newest()).timestamp - before.timestamp;
    }),
    trial(method, "for a call of the pending block", async (chain) => {
      const before = await chain.newest();
      await chain.get(method, before.timestamp + DAY);
      const code = { [OUTSIDER]: { code: "0x4260005260206000f3" } };
      const time = await chain.get<string>("eth_call", { to: OUTSIDER }, "pending", code);
      return Number(time) - before.timestamp;
    }),
    trial(method, "for the pending block itself", async (chain) => {
      const before = await chain.newest();
      await chain.get(method, before.timestamp + DAY);
      const pending = await chain.get<{ readonly timestamp: string }>(
        "eth_getBlockByNumber",
        "pending",
        false,
      );
      return Number(pending.timestamp) - before.timestamp;
    }),
  ]),
  ...["eth_estimateGas", "eth_call"].flatMap((method) =>
    ["pending", "latest", "no block"].map((block) =>
      trial(
        method,
        `of ${block === "no block" ? block : `the ${block} block`} after time was moved`,
        async (chain) => {
          const gate = await chain.gate((await chain.newest()).timestamp + FAR);
          await chain.get("evm_increaseTime", 2 * FAR);
          const call = { from: chain.accounts[0], to: gate };
          return isAnswered(await chain.ask(method, call, ...(block === "no block" ? [] : [block])));
        },
      ),
    ),
  ),
  trial("eth_sendTransaction", "of which the gas is estimated after time was moved", async (chain) => {
    const gate = await chain.gate((await chain.newest()).timestamp + FAR);
    await chain.get("evm_increaseTime", 2 * FAR);
    const hash = await chain.mined(
      await chain.transfer(chain.accounts[0], { to: gate, value: "0x0", gas: undefined }),
    );
    const { status } = await chain.get<{ readonly status: string }>("eth_getTransactionReceipt", hash);
    return status;
  }),
  ...eachForm(["evm_setTime", "anvil_setTime"], WRONG_NUMBERS, (chain, method, params) =>
    chain.ask(method, ...params),
  ),
  ...["evm_setTime", "anvil_setTime"].flatMap((method) =>
    Object.entries({ "a later time": 10 * FAR, "an earlier time": -10 * FAR }).map(([form, seconds]) =>
      trial(method, form, async (chain) => {
        const before = await chain.newest();
        const answer = await chain.ask(method, before.timestamp + seconds);
        await chain.get("evm_mine");
        return { answer: aboutTime(answer), thousands: await chain.thousandsSince(before) };
      }),
    ),
  ),
  ...["evm_setTime", "anvil_setTime"].map((method) =>
    trial(method, "milliseconds", async (chain) => {
      const before = await chain.newest();
      await chain.ask(method, (before.timestamp + 10 * FAR) * 1000);
      await chain.get("evm_mine");
      return chain.thousandsSince(before);
    }),
  ),
  ...eachForm(
    ["anvil_setBlockTimestampInterval"],
    { ...WRONG_NUMBERS, "a number": [7], hex: ["0x7"], "decimal text": ["7"] },
    async (chain, method, params) => {
      const answer = await chain.ask(method, ...params);
      await chain.get("evm_mine");
      await chain.get("evm_mine");
      await chain.get("evm_mine");
      const spacing = answer === null ? await chain.spacing(2) : undefined;
      return { answer, spacing, removed: await chain.ask("anvil_removeBlockTimestampInterval") };
    },
  ),
  trial("anvil_removeBlockTimestampInterval", "without one", (chain) =>
    chain.ask("anvil_removeBlockTimestampInterval"),
  ),
];

/** Answers that are seconds, or a text of them: in thousands, as far as they are more than what passes in a test. */
function aboutTime(answer: unknown): unknown {
  if (typeof answer === "number") return Math.round(answer / 1000) || 0;
  return typeof answer === "string" && /^-?[0-9]+$/.test(answer)
    ? `${Math.round(Number(answer) / 1000) || 0}`
    : answer;
}

const WAYS_OF_MINING: readonly Trial[] = [
  ...eachForm(
    ["evm_setAutomine", "anvil_setAutomine"],
    { ...WRONG_FLAGS, true: [true], false: [false] },
    async (chain, method, params) => {
      const answer = await chain.ask(method, ...params);
      return { answer, isAutomatic: await chain.ask("hardhat_getAutomine") };
    },
  ),
  ...["evm_setAutomine", "anvil_setAutomine"].map((method) =>
    trial(method, "false, then transactions, then true", async (chain) => {
      const before = await chain.newest();
      await chain.get(method, false);
      await chain.transfer();
      await chain.transfer();
      const waiting = (await chain.newest()).number - before.number;
      const nonces = await nonceOf(chain, chain.accounts[0]);
      await chain.get(method, true);
      await chain.mined(await chain.transfer(chain.accounts[2]));
      return { waiting, ...nonces, mined: await minedOf(chain, before) };
    }),
  ),
  trial("hardhat_getAutomine", "as shipped", (chain) => chain.ask("hardhat_getAutomine")),
  trial("anvil_getAutomine", "as shipped", (chain) => chain.ask("anvil_getAutomine")),
  ...eachForm(
    ["evm_setIntervalMining", "anvil_setIntervalMining"],
    {
      ...WRONG_NUMBERS,
      zero: [0],
      "a number": [100_000],
      hex: ["0x186a0"],
      "a range": [[100_000, 200_000]],
      "a range that ends before it begins": [[200_000, 100_000]],
      "three numbers": [[1, 2, 3]],
    },
    async (chain, method, params) => {
      const answer = await chain.ask(method, ...params);
      return { answer, isAutomatic: await chain.ask("hardhat_getAutomine") };
    },
  ),
  ...Object.entries({ "without one": 0, "a minute": 60 }).map(([form, seconds]) =>
    trial("anvil_getIntervalMining", form, async (chain) => {
      if (seconds > 0) await chain.get("anvil_setIntervalMining", seconds);
      return chain.ask("anvil_getIntervalMining");
    }),
  ),
  ...eachForm(
    ["evm_setBlockGasLimit", "anvil_setBlockGasLimit"],
    {
      ...WRONG_NUMBERS,
      "a number": [30_000_000],
      hex: ["0x1c9c380"],
      "decimal text": ["30000000"],
      zero: [0],
    },
    async (chain, method, params) => {
      const answer = await chain.ask(method, ...params);
      await chain.get("evm_mine");
      const { gasLimit } = await chain.get<{ readonly gasLimit: string }>(
        "eth_getBlockByNumber",
        "latest",
        false,
      );
      await chain.get("evm_setBlockGasLimit", 400_000_000);
      return { answer, gasLimit };
    },
  ),
];

async function nonceOf(chain: TrialChain, address: string | undefined) {
  const [latest, pending] = await Promise.all(
    ["latest", "pending"].map((block) => chain.get<string>("eth_getTransactionCount", address, block)),
  );
  return { between: Number(pending) - Number(latest) };
}

/** Transactions in the blocks since that one. */
async function minedOf(chain: TrialChain, before: { readonly number: number }): Promise<number> {
  const { number } = await chain.newest();
  let mined = 0;
  for (let at = before.number + 1; at <= number; at++) {
    const block = await chain.get<{ readonly transactions: readonly string[] }>(
      "eth_getBlockByNumber",
      quantity(at),
      false,
    );
    mined += block.transactions.length;
  }
  return mined;
}

export const BLOCK_TRIALS: readonly Trial[] = [...MINING, ...TIME, ...WAYS_OF_MINING];
