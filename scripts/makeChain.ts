/**
 * `npm run make-chain -- --to=FOLDER [--blocks=50000] [--transactions=500000] [--validators=4] [--reward=0] [--seed=1]
 * [--even] [--most=1500]`: makes a chain on a virtual clock (test/builders/madeChain.ts), in the data folder FOLDER/data, which a node with
 * the genesis file beside it can serve or go on with.
 */
import { parseArgs } from "node:util";
import { makeChain } from "../test/builders/madeChain.ts";

const { values } = parseArgs({
  options: {
    to: { type: "string" },
    blocks: { type: "string", default: "50000" },
    transactions: { type: "string", default: "500000" },
    validators: { type: "string", default: "4" },
    reward: { type: "string", default: "0" },
    seed: { type: "string", default: "1" },
    even: { type: "boolean", default: false },
    most: { type: "string", default: "1500" },
  },
});
if (values.to === undefined) {
  console.error("Give the folder to write to: --to=FOLDER");
  process.exit(2);
}
const startMs = performance.now();
const seconds = (): string => `${((performance.now() - startMs) / 1000).toFixed(0)} s`;
const made = await makeChain({
  folder: values.to,
  blocks: Number(values.blocks),
  transactions: Number(values.transactions),
  validators: Number(values.validators),
  reward: BigInt(values.reward),
  seed: Number(values.seed),
  spread: values.even ? "even" : "varied",
  mostOfBlock: Number(values.most),
  onProgress: (number) => console.log(`block ${number}, ${seconds()}`),
});
console.log(`${values.blocks} blocks, ${made.transactions} transactions, head ${made.head}, ${seconds()}`);
