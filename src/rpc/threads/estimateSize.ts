/**
 * Estimates the bytes that a value takes in a message between threads, on both sides: exact for text and bytes, which alone can be large.
 * Of a view, all memory behind it is copied.
 */
export function estimateSize(value: unknown): number {
  let size = 0;
  const left: unknown[] = [value];
  while (left.length > 0) {
    const one = left.pop();
    size += PART_BYTES;
    if (typeof one === "string") size += one.length;
    else if (ArrayBuffer.isView(one)) size += one.buffer.byteLength;
    else if (Array.isArray(one)) for (const item of one) left.push(item);
    else if (typeof one === "object" && one !== null)
      for (const [name, member] of Object.entries(one)) {
        size += name.length;
        left.push(member);
      }
  }
  return size;
}

/** Counted for each value. */
const PART_BYTES = 8;
