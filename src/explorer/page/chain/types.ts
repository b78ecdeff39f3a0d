/** Objects of the eth_ methods that the page reads: quantities and bytes in hexadecimal. */

export interface Block {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
  readonly miner: string;
  readonly gasUsed: string;
  readonly gasLimit: string;
  readonly baseFeePerGas?: string;
  readonly size: string;
  readonly stateRoot: string;
  readonly transactions: readonly string[];
}

export interface Transaction {
  readonly hash: string;
  readonly blockNumber: string | null;
  readonly transactionIndex: string | null;
  readonly from: string;
  readonly to: string | null;
  readonly value: string;
  readonly nonce: string;
  readonly gas: string;
  readonly input: string;
  readonly type: string;
  /** Absent from transactions of older types, like the next list. */
  readonly accessList?: readonly AccessListEntry[];
  readonly authorizationList?: readonly Authorization[];
}

export interface AccessListEntry {
  readonly address: string;
  readonly storageKeys: readonly string[];
}

/** Permission for the code of `address` to run as the account that signed (EIP-7702). */
export interface Authorization {
  readonly chainId: string;
  readonly address: string;
  readonly nonce: string;
  readonly yParity: string;
  readonly r: string;
  readonly s: string;
}

export interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly logIndex?: string;
}

export interface Receipt {
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly status?: string;
  readonly gasUsed: string;
  readonly effectiveGasPrice: string;
  readonly contractAddress: string | null;
  readonly logs: readonly Log[];
}

/** A call as the callTracer returns it. */
export interface CallFrame {
  readonly type: string;
  readonly to?: string;
  readonly value?: string;
  readonly gasUsed: string;
  readonly input: string;
  readonly output?: string;
  readonly error?: string;
  readonly calls?: readonly CallFrame[];
}

/** An account as the prestateTracer returns it, before or after. */
export interface AccountState {
  readonly balance?: string;
  readonly nonce?: number;
  readonly code?: string;
  readonly storage?: Readonly<Record<string, string>>;
}

export interface StateDifference {
  readonly pre: Readonly<Record<string, AccountState>>;
  readonly post: Readonly<Record<string, AccountState>>;
}
