import { type Trial, trial } from "./trial.ts";
import { GAS_PRICE, OUTSIDER, quantity, type TrialChain } from "./trialChain.ts";

/** Why calls and transactions fail, in the words and with the data that tools read. */

const SENT = ["eth_sendTransaction"];
const CALLED = ["eth_call", "eth_estimateGas"];

/** Reverts with its input but for the first byte. */
const ECHO = "0x600136036001600037600136036000fd";

const word = (value: number): string => value.toString(16).padStart(64, "0");
const REVERTS: Readonly<Record<string, string>> = {
  "a reason": `08c379a0${word(32)}${word(6)}${Buffer.from("no way").toString("hex").padEnd(64, "0")}`,
  "a panic": `4e487b71${word(0x11)}`,
  "a panic that Solidity has not": `4e487b71${word(0x99)}`,
  "a custom error": `a2f43130${word(7)}`,
  nothing: "",
};

const HALTS: Readonly<Record<string, string>> = {
  "an invalid instruction": "0xfe",
  "an instruction that is none": "0x0c",
  "its gas used up": "0x5b600056",
  "an empty stack": "0x01",
  "a jump to nowhere": "0x600356",
};

async function failing(chain: TrialChain, method: string, code: string, data: string): Promise<unknown> {
  await chain.setCode(OUTSIDER, code);
  const call = { from: chain.accounts[0], to: OUTSIDER, data, gas: quantity(100_000) };
  return chain.askWhy(method, SENT.includes(method) ? { ...call, gasPrice: GAS_PRICE } : call);
}

const FAILURES: readonly Trial[] = [...SENT, ...CALLED].flatMap((method) => [
  ...Object.entries(REVERTS).map(([form, data]) =>
    trial(method, `reverts with ${form}`, (chain) => failing(chain, method, ECHO, `0x00${data}`)),
  ),
  ...Object.entries(HALTS).map(([form, code]) =>
    trial(method, `fails with ${form}`, (chain) => failing(chain, method, code, "0x")),
  ),
]);

const REFUSALS: readonly Trial[] = Object.entries({
  "more than the sender has": { value: `0x${"ff".repeat(16)}` },
  "too little gas for any": { gas: "0x1" },
  "more gas than a block has": { gas: quantity(400_000_001) },
  "a nonce that was used": { nonce: "0x0" },
  "an unknown sender": { from: OUTSIDER },
}).map(([form, more]) =>
  trial("eth_sendTransaction", `is refused for ${form}`, async (chain) => {
    await chain.mined(await chain.transfer());
    const [from, to] = chain.accounts;
    const transfer = { from, to, value: "0x1", gas: "0x5208", gasPrice: GAS_PRICE };
    const seen = JSON.stringify(await chain.askWhy("eth_sendTransaction", { ...transfer, ...more }));
    // Balances differ from node to node, which have mined other trials, and addresses by their capitals.
    return seen.toLowerCase().replaceAll(/(?<!x[0-9a-f]*)\d{5,}/g, "a number");
  }),
);

export const ERROR_TRIALS: readonly Trial[] = [...FAILURES, ...REFUSALS];
