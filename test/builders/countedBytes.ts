/** Bytes that count how many of them are read: how much of a message a decoder looks at, without a stopwatch. */
export interface CountedBytes {
  readonly bytes: Uint8Array;
  /** Bytes read one by one, or handed out whole: to a copy, an iteration or a view that is not counted. */
  readonly reads: number;
  /** Subarrays taken. */
  readonly views: number;
}

/** Counts in `whole` and in all its subarrays together. */
export function countedBytes(whole: Uint8Array): CountedBytes {
  let reads = 0;
  let views = 0;

  function counted(bytes: Uint8Array): Uint8Array {
    return new Proxy(bytes, {
      get(target, key) {
        if (typeof key === "string" && IS_INDEX.test(key)) {
          reads += 1;
          return target[Number(key)];
        }
        if (key === "subarray") {
          views += 1;
          return (from?: number, until?: number) => counted(target.subarray(from, until));
        }
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value === "function" || key === "buffer") reads += target.length;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  return {
    bytes: counted(whole),
    get reads() {
      return reads;
    },
    get views() {
      return views;
    },
  };
}

const IS_INDEX = /^\d+$/;
