/*
 * Limits of what lies between two threads, counted in memory that both share, so that giving back takes no message:
 *
 *   sender ── take ──> counted ──(posted, received, worked on)──> receiver ── giveBack ──> free again
 *
 * The memory has for each thread, and there for each kind of message:   messages i32 | bytes i32
 */

/** Most that may lie between two threads of one kind of message. */
export interface CreditLimit {
  readonly messages?: number;
  /** Estimated, as the sender counts them. */
  readonly bytes?: number;
  /** Whether each thread may have as much, or all of them together. */
  readonly of: "each thread" | "all threads";
}

/** A kind of message; one without a limit is bounded by what its messages answer. */
export interface LimitedKind {
  /** Name of the end that sends it. */
  readonly from: string;
  readonly most?: CreditLimit;
}

type CreditLimits = Readonly<Record<string, LimitedKind>>;

export interface CreditMemory {
  readonly memory: SharedArrayBuffer;
  readonly threads: number;
}

export function createCreditMemory(limits: CreditLimits, threads: number): CreditMemory {
  return { memory: new SharedArrayBuffer(8 * Object.keys(limits).length * threads), threads };
}

/** Forgets what lay between a thread that ended and the main thread. */
export function forgetCredits({ memory, threads }: CreditMemory, thread: number): void {
  const length = memory.byteLength / 4 / threads;
  new Int32Array(memory, 4 * length * thread, length).fill(0);
}

/** The credit of one kind of message between one thread and the main thread; both have such an object. */
export class Credit {
  private readonly most: CreditLimit;
  private readonly numbers: Int32Array;
  /** Place of this thread's number of messages, and distance to that of the next thread. */
  private readonly own: number;
  private readonly stride: number;

  constructor(limits: CreditLimits, kind: string, { memory, threads }: CreditMemory, thread: number) {
    this.most = limits[kind]?.most ?? { of: "each thread" };
    this.numbers = new Int32Array(memory);
    this.stride = this.numbers.length / threads;
    this.own = this.stride * thread + 2 * Object.keys(limits).indexOf(kind);
  }

  /** Counts messages of so many bytes, unless more than the limit would lie there then. */
  take(messages: number, bytes = 0): boolean {
    // Counted first: of two threads that send at one time, both may be refused, but never both admitted beyond the limit.
    this.takeBeyond(messages, bytes);
    if (this.isWithin(1)) return true;
    this.giveBack(messages, bytes);
    return false;
  }

  /** Counts what is sent whether or not it is within the limit. */
  takeBeyond(messages: number, bytes = 0): void {
    Atomics.add(this.numbers, this.own, messages);
    Atomics.add(this.numbers, this.own + 1, bytes);
  }

  giveBack(messages: number, bytes = 0): void {
    this.takeBeyond(-messages, -bytes);
  }

  /** Whether nothing more can be taken. */
  get isFull(): boolean {
    const { messages = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY } = this.most;
    return this.messages >= messages || this.bytes >= bytes;
  }

  get isHalfFree(): boolean {
    return this.isWithin(0.5);
  }

  get isUnused(): boolean {
    return this.messages === 0 && this.bytes === 0;
  }

  /** What lies there, of all threads where they have one limit. */
  get messages(): number {
    return this.sumAt(0);
  }

  get bytes(): number {
    return this.sumAt(1);
  }

  private isWithin(part: number): boolean {
    const { messages, bytes } = this.most;
    return (
      (messages === undefined || this.messages <= part * messages) &&
      (bytes === undefined || this.bytes <= part * bytes)
    );
  }

  private sumAt(offset: 0 | 1): number {
    if (this.most.of === "each thread") return Atomics.load(this.numbers, this.own + offset);
    let sum = 0;
    for (let at = (this.own % this.stride) + offset; at < this.numbers.length; at += this.stride)
      sum += Atomics.load(this.numbers, at);
    return sum;
  }
}
