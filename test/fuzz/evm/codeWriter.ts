import { push } from "./draws.ts";

/**
 * Assembles code and follows the height of its stack, as far as code without surprises has one. Data that the code
 * copies from itself comes after its last instruction.
 */
export class CodeWriter {
  /** Items on the stack, if no instruction fails and every branch leaves as many. */
  height = 0;
  private readonly bytes: number[] = [];
  private readonly tails: { readonly operandAt: number; readonly data: Uint8Array }[] = [];

  get length(): number {
    return this.bytes.length;
  }

  /** An instruction that takes so many items and leaves so many. */
  op(opcode: number, taken = 0, left = 0): void {
    this.bytes.push(opcode);
    this.height += left - taken;
  }

  push(value: bigint | number, width = 0): void {
    this.bytes.push(...push(value, width));
    this.height++;
  }

  raw(bytes: Uint8Array): void {
    this.bytes.push(...bytes);
  }

  /** Pushes two bytes that are set later; returns where they are. */
  pushLater(): number {
    this.bytes.push(0x61, 0, 0);
    this.height++;
    return this.bytes.length - 2;
  }

  /** Sets the operand of a pushLater. */
  set(operandAt: number, value: number): void {
    this.bytes[operandAt] = (value >> 8) & 0xff;
    this.bytes[operandAt + 1] = value & 0xff;
  }

  /** Copies data, which will be appended to the code, to memory. */
  copyToMemory(data: Uint8Array, memoryAt: number): void {
    this.push(data.length);
    const operandAt = this.pushLater();
    this.push(memoryAt);
    this.op(0x39, 3);
    this.tails.push({ operandAt, data });
  }

  finish(): Uint8Array {
    for (const { operandAt, data } of this.tails) {
      this.set(operandAt, this.bytes.length);
      for (const byte of data) this.bytes.push(byte);
    }
    this.tails.length = 0;
    return Uint8Array.from(this.bytes);
  }
}
