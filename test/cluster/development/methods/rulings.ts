/** A difference from the node whose name a request has, that is meant: a row of development-network.md#where-it-differs. */
export interface Ruling {
  /** The first cell of its row. */
  readonly what: string;
  /** The requests that show it: methods, with `*` for any letters, and the forms of their trials. */
  readonly requests: readonly (readonly [methods: string, ...forms: readonly string[]])[];
}

const FLAGS = ["no parameter", "null", "a word", "a number", "false"] as const;
const RESETS = ["no parameter", "null", "an empty object"] as const;
const FAILURES = [
  "reverts with a reason",
  "reverts with a panic",
  "reverts with a panic that Solidity has not",
  "reverts with a custom error",
  "reverts with nothing",
  "fails with an invalid instruction",
  "fails with an instruction that is none",
  "fails with its gas used up",
  "fails with an empty stack",
  "fails with a jump to nowhere",
] as const;

export const RULINGS: readonly Ruling[] = [
  {
    what: "a changed state",
    requests: [
      ["*_setBalance", "the height of the chain afterwards"],
      ["*_setNonce", "the height of the chain afterwards"],
      ["*_setCode", "the height of the chain afterwards"],
      ["*_setStorageAt", "the height of the chain afterwards"],
    ],
  },
  {
    what: "a block at its parent's time",
    requests: [
      ["evm_mine", "its parent's time", "several blocks at a time"],
      ["*_mine_detailed", "several blocks at a time"],
      ["anvil_mine", "seconds between blocks as zero"],
      ["anvil_setNextBlockTimestamp", "the newest block's time"],
      ["*_setTime", "an earlier time"],
    ],
  },
  {
    what: "forms of parameters",
    requests: [
      ["evm_mine", "null", "an empty object", "several blocks", "no blocks"],
      ["*_mine_detailed", "several blocks", "no blocks"],
      ["anvil_setBlockTimestampInterval", "hex", "decimal text"],
      ["anvil_setIntervalMining", "hex"],
      ["anvil_rollback", "no parameter", "hex", "zero"],
      ["hardhat_set*", "an address without 0x", "a number", "decimal text", "without 0x"],
      ["hardhat_setStorageAt", "slot as a number", "slot as decimal text"],
    ],
  },
  {
    what: "numbers that are too large",
    requests: [
      ["*_set*Nonce", "65 bits"],
      ["anvil_setStorageAt", "a slot of 33 bytes"],
    ],
  },
  {
    what: "codes of refusals",
    requests: [
      ["anvil_setMinGasPrice", "one"],
      ["hardhat_setStorageAt", "a short value", "a slot of 33 bytes"],
      ["anvil_setStorageAt", "a value of 33 bytes"],
      ["*_autoImpersonateAccount", ...FLAGS],
      ["anvil_impersonateAccount", "to send, and no longer"],
      ["*_reset", "another chain"],
    ],
  },
  { what: "many blocks at once", requests: [["hardhat_mine", "a million blocks"]] },
  {
    what: "the pending block",
    requests: [["*_setNextBlockTimestamp", "for the pending block itself"]],
  },
  {
    what: "calls and estimates that fail",
    requests: [
      ["eth_call", ...FAILURES],
      ["eth_estimateGas", ...FAILURES],
    ],
  },
  {
    what: "a nonce that was used",
    requests: [["eth_sendTransaction", "is refused for a nonce that was used"]],
  },
  { what: "a gas limit of zero", requests: [["anvil_setBlockGasLimit", "zero"]] },
  {
    what: "snapshots that are gone",
    requests: [
      ["anvil_revert", "to the first of two"],
      ["anvil_reset", "what is left"],
    ],
  },
  { what: "the pool after going back", requests: [["anvil_revert", "with what waits in the pool"]] },
  {
    what: "fields of a block",
    requests: [
      ["*_setNextBlockBaseFeePerGas", "one"],
      ["*_setCoinbase", "an address"],
      ["hardhat_setPrevRandao", "32 bytes"],
    ],
  },
  {
    what: "the nonce of a sender that waits",
    requests: [["hardhat_setNonce", "with a transaction that waits"]],
  },
  {
    what: "members of answers",
    requests: [
      ["*_mine_detailed", "a block with transactions"],
      ["anvil_metadata", "members"],
    ],
  },
  {
    what: "the chain that it is",
    requests: [
      ["anvil_setRpcUrl", "a URL"],
      ["anvil_setChainId", "a number"],
      ["anvil_impersonateSignature", "a signature"],
    ],
  },
  {
    what: "blocks of another chain",
    requests: [["*_loadState", "the height of the chain afterwards"]],
  },
  { what: "after a reset", requests: [["*_reset", ...RESETS]] },
];
