import { eachForm, type Forms, type Trial, trial, WRONG_FLAGS } from "./trial.ts";
import { bytes32, GAS_PRICE, OUTSIDER } from "./trialChain.ts";

/** States that callers change, and accounts without keys. */

const WRONG_ACCOUNTS: Forms = {
  "no parameter": [],
  "one parameter": [OUTSIDER],
  "a short address": ["0x12", "0x1"],
  "an address without 0x": [OUTSIDER.slice(2), "0x1"],
};

const STATES: readonly Trial[] = [
  ...eachForm(
    [
      ...["hardhat_setBalance", "anvil_setBalance", "tenderly_setBalance"],
      ...["anvil_addBalance", "hardhat_addBalance", "tenderly_addBalance"],
    ],
    {
      ...WRONG_ACCOUNTS,
      hex: [OUTSIDER, "0x64"],
      "hex with leading zeros": [OUTSIDER, bytes32(100)],
      "a number": [OUTSIDER, 100],
      "decimal text": [OUTSIDER, "100"],
      zero: [OUTSIDER, "0x0"],
      "all 256 bits": [OUTSIDER, `0x${"f".repeat(64)}`],
      "257 bits": [OUTSIDER, `0x1${"0".repeat(64)}`],
      "a negative number": [OUTSIDER, -1],
      null: [OUTSIDER, null],
    },
    async (chain, method, params) => {
      const answer = await chain.ask(method, ...params);
      return { answer, balance: await chain.ask("eth_getBalance", OUTSIDER, "latest") };
    },
  ),
  ...eachForm(
    ["hardhat_setNonce", "anvil_setNonce", "evm_setAccountNonce"],
    {
      ...WRONG_ACCOUNTS,
      hex: [OUTSIDER, "0x9"],
      "a number": [OUTSIDER, 9],
      "decimal text": [OUTSIDER, "9"],
      zero: [OUTSIDER, "0x0"],
      "65 bits": [OUTSIDER, "0x10000000000000000"],
      "a negative number": [OUTSIDER, -1],
      null: [OUTSIDER, null],
    },
    async (chain, method, params) => {
      const answer = await chain.ask(method, ...params);
      return { answer, nonce: await chain.ask("eth_getTransactionCount", OUTSIDER, "latest") };
    },
  ),
  ...["hardhat_setNonce", "anvil_setNonce", "evm_setAccountNonce"].flatMap((method) => [
    trial(method, "a smaller one", async (chain) => {
      await chain.get(method, OUTSIDER, "0x9");
      const answer = await chain.ask(method, OUTSIDER, "0x8");
      return { answer, nonce: await chain.ask("eth_getTransactionCount", OUTSIDER, "latest") };
    }),
    trial(method, "with a transaction that waits", async (chain) => {
      await chain.get("evm_setAutomine", false);
      await chain.transfer();
      return chain.ask(method, chain.accounts[0], "0x5000");
    }),
  ]),
  ...eachForm(
    ["hardhat_setCode", "anvil_setCode"],
    {
      ...WRONG_ACCOUNTS,
      code: [OUTSIDER, "0x6001"],
      "no code": [OUTSIDER, "0x"],
      "an odd digit": [OUTSIDER, "0x600"],
      "without 0x": [OUTSIDER, "6001"],
      "30,000 bytes": [OUTSIDER, `0x${"60".repeat(30_000)}`],
      null: [OUTSIDER, null],
    },
    async (chain, method, params) => {
      const answer = await chain.ask(method, ...params);
      const code = await chain.get<string>("eth_getCode", OUTSIDER, "latest");
      return { answer, code: code.length > 100 ? `${code.length / 2 - 1} bytes` : code };
    },
  ),
  ...eachForm(
    ["hardhat_setStorageAt", "anvil_setStorageAt"],
    {
      "no parameter": [],
      "two parameters": [OUTSIDER, "0x0"],
      "slot as hex": [OUTSIDER, "0x5", bytes32(7)],
      "slot as 32 bytes": [OUTSIDER, bytes32(5), bytes32(7)],
      "slot as a number": [OUTSIDER, 5, bytes32(7)],
      "slot as decimal text": [OUTSIDER, "5", bytes32(7)],
      "a short value": [OUTSIDER, "0x5", "0x7"],
      "a value of 33 bytes": [OUTSIDER, "0x5", `${bytes32(7)}00`],
      "a value as a number": [OUTSIDER, "0x5", 7],
      "a slot of 33 bytes": [OUTSIDER, `${bytes32(5)}00`, bytes32(7)],
      zero: [OUTSIDER, "0x5", bytes32(0)],
    },
    async (chain, method, params) => {
      const answer = await chain.ask(method, ...params);
      const value = await chain.get<string>("eth_getStorageAt", OUTSIDER, "0x5", "latest");
      return { answer, value: Number(value) };
    },
  ),
  ...["anvil_dealERC20", "hardhat_dealERC20", "anvil_setERC20Balance"].flatMap((method) => [
    trial(method, "a balance", async (chain) => {
      const token = await chain.token();
      const answer = await chain.ask(method, OUTSIDER, token, "0x64");
      const data = `0x70a08231${OUTSIDER.slice(2).padStart(64, "0")}`;
      return { answer, balance: Number(await chain.get("eth_call", { to: token, data }, "latest")) };
    }),
    trial(method, "an account that is no token", (chain) => chain.ask(method, OUTSIDER, OUTSIDER, "0x64")),
    trial(method, "no parameter", (chain) => chain.ask(method)),
  ]),
  trial("anvil_setERC20Allowance", "an allowance", async (chain) => {
    const token = await chain.token();
    const owner = chain.accounts[3] as string;
    const answer = await chain.ask("anvil_setERC20Allowance", owner, OUTSIDER, token, "0x64");
    const data = `0xdd62ed3e${[owner, OUTSIDER].map((each) => each.slice(2).padStart(64, "0")).join("")}`;
    return { answer, allowance: Number(await chain.get("eth_call", { to: token, data }, "latest")) };
  }),
  trial("anvil_setERC20Allowance", "an account that is no token", (chain) =>
    chain.ask("anvil_setERC20Allowance", OUTSIDER, OUTSIDER, OUTSIDER, "0x64"),
  ),
  trial("anvil_setERC20Allowance", "no parameter", (chain) => chain.ask("anvil_setERC20Allowance")),
];

const BLOCKS_OF_CHANGES: readonly Trial[] = Object.entries({
  hardhat_setBalance: [OUTSIDER, "0x64"],
  anvil_setBalance: [OUTSIDER, "0x64"],
  hardhat_setNonce: [OUTSIDER, "0x9"],
  anvil_setNonce: [OUTSIDER, "0x9"],
  hardhat_setCode: [OUTSIDER, "0x6001"],
  anvil_setCode: [OUTSIDER, "0x6001"],
  hardhat_setStorageAt: [OUTSIDER, "0x5", bytes32(7)],
  anvil_setStorageAt: [OUTSIDER, "0x5", bytes32(7)],
}).map(([method, params]) =>
  trial(method, "the height of the chain afterwards", (chain) => chain.blocks(method, ...params)),
);

const IMPERSONATION: readonly Trial[] = [
  ...["hardhat", "anvil"].flatMap((group) => [
    ...eachForm(
      [`${group}_impersonateAccount`, `${group}_stopImpersonatingAccount`],
      { "no parameter": [], null: [null], "a short address": ["0x12"], "an address": [OUTSIDER] },
      (chain, method, params) => chain.ask(method, ...params),
    ),
    trial(`${group}_impersonateAccount`, "to send, and no longer", async (chain) => {
      await chain.get("hardhat_setBalance", OUTSIDER, "0xde0b6b3a7640000");
      const send = () =>
        chain.ask("eth_sendTransaction", {
          from: OUTSIDER,
          to: chain.accounts[1],
          value: "0x1",
          gasPrice: GAS_PRICE,
        });
      const before = await send();
      await chain.get(`${group}_impersonateAccount`, OUTSIDER);
      const meanwhile = await send();
      const stopped = await chain.ask(`${group}_stopImpersonatingAccount`, OUTSIDER);
      return { before, meanwhile, stopped, after: await send() };
    }),
    ...eachForm(
      [`${group}_autoImpersonateAccount`],
      { ...WRONG_FLAGS, true: [true], false: [false] },
      async (chain, method, params) => {
        await chain.get("hardhat_setBalance", OUTSIDER, "0xde0b6b3a7640000");
        const answer = await chain.ask(method, ...params);
        const sent = await chain.ask("eth_sendTransaction", {
          from: OUTSIDER,
          to: chain.accounts[1],
          value: "0x1",
          gasPrice: GAS_PRICE,
        });
        await chain.ask(method, false);
        return { answer, sent };
      },
    ),
  ]),
  trial("anvil_impersonateSignature", "a signature", (chain) =>
    chain.ask("anvil_impersonateSignature", `0x${"11".repeat(65)}`, OUTSIDER),
  ),
];

export const STATE_TRIALS: readonly Trial[] = [...STATES, ...BLOCKS_OF_CHANGES, ...IMPERSONATION];
