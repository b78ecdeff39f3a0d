/** A generated program: a state test with one transaction under one fork. Quantities, bytes and addresses are hex. */
export interface StateTestProgram {
  readonly name: string;
  /** In the spelling of state tests. */
  readonly fork: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pre: Readonly<Record<string, ProgramAccount>>;
  readonly transaction: ProgramTransaction;
  /** Enough for what the program does, mostly. */
  readonly gasLimit: bigint;
  /** How many lower limits it is run with too; by default a few. */
  readonly cutOffs?: number;
  /** Programs that do one by one what it does, to find what matters in it. */
  parts?(): readonly StateTestProgram[];
}

export interface ProgramAccount {
  readonly balance: string;
  readonly nonce: string;
  readonly code: string;
  readonly storage: Readonly<Record<string, string>>;
}

/** Its type follows from its fields, as in state tests. */
export interface ProgramTransaction {
  readonly nonce: string;
  readonly sender: string;
  readonly secretKey: string;
  /** Empty for a creation. */
  readonly to: string;
  readonly value: string;
  readonly data: string;
  readonly gasPrice?: string;
  readonly maxFeePerGas?: string;
  readonly maxPriorityFeePerGas?: string;
  readonly accessList?: readonly ProgramAccess[];
  readonly maxFeePerBlobGas?: string;
  readonly blobVersionedHashes?: readonly string[];
  readonly authorizationList?: readonly ProgramAuthorization[];
}

export interface ProgramAccess {
  readonly address: string;
  readonly storageKeys: readonly string[];
}

export interface ProgramAuthorization {
  readonly chainId: string;
  readonly address: string;
  readonly nonce: string;
  readonly v: string;
  readonly r: string;
  readonly s: string;
}

/** What a transaction made of a program's state. */
export type ProgramOutcome =
  | { readonly refusal: string }
  | {
      readonly refusal?: undefined;
      /** State root. */
      readonly root: string;
      /** Keccak-256 of the RLP of the logs. */
      readonly logsHash: string;
      readonly gasUsed: bigint;
      readonly hasSucceeded: boolean;
      /** Why it failed, in words of the executor. */
      readonly halt: string | undefined;
      readonly output: string;
    };

/** The form of go-ethereum's `evm statetest`: the program with these gas limits, and what each is expected to make. */
export function stateTestOf(
  { fork, env, pre, transaction }: StateTestProgram,
  cases: readonly {
    readonly gasLimit: bigint;
    readonly outcome: ProgramOutcome;
    readonly txbytes?: string;
  }[],
): object {
  const { accessList, data, value, ...fields } = transaction;
  return {
    env,
    pre,
    transaction: {
      ...fields,
      data: [data],
      value: [value],
      gasLimit: cases.map(({ gasLimit }) => `0x${gasLimit.toString(16)}`),
      ...(accessList !== undefined && { accessLists: [accessList] }),
    },
    post: {
      [fork]: cases.map(({ outcome, txbytes }, gas) => ({
        hash: outcome.refusal === undefined ? outcome.root : NO_HASH,
        logs: outcome.refusal === undefined ? outcome.logsHash : NO_HASH,
        ...(outcome.refusal !== undefined && { expectException: outcome.refusal }),
        ...(txbytes !== undefined && { txbytes }),
        indexes: { data: 0, gas, value: 0 },
      })),
    },
  };
}

const NO_HASH = `0x${"0".repeat(64)}`;
