/** The account to which `code` delegates (EIP-7702); undefined for any other code. */
export function delegateIn(code: string): string | undefined {
  return /^0xef0100[0-9a-f]{40}$/i.test(code) ? `0x${code.slice(8)}` : undefined;
}
