/** Code that returns the word that `opcodes` leave on the stack. */
export function returning(opcodes: string): string {
  return `0x${opcodes}60005260206000f3`;
}

export function word(value: number | bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
