import { gunzipSync } from "node:zlib";
import { type Address, asAddress } from "../../primitives/address.ts";
import { EMPTY_BYTES, equalBytes, hexToBytes, joinBytes, parseHex } from "../../primitives/hex.ts";
import { jsonExcess } from "../../primitives/jsonExcess.ts";
import { bigintToFixedBytes } from "../../primitives/quantity.ts";
import type { TimeSlice } from "../../primitives/timeSlice.ts";
import { type DumpedAccount, type PackedAccounts, packAccounts } from "./dumpedAccount.ts";
import { DUMP_LIMITS } from "./dumpLimits.ts";

interface DumpReading {
  /** Whether an account is not taken. */
  isLeftOut(address: Address): boolean;
  /** Given up where the text is long, before work begins that cannot be given up. */
  readonly slice?: TimeSlice | undefined;
}

export type ReadDump =
  | { readonly kind: "read"; readonly accounts: PackedAccounts }
  | { readonly kind: "unreadable"; readonly why: string };

/**
 * Reads the accounts of a dump that writeDump, or anvil's anvil_dumpState, has made: gzip of JSON, or JSON alone. Its block, blocks
 * and transactions are not read.
 */
export function readDump(dump: Uint8Array, { isLeftOut, slice }: DumpReading): ReadDump {
  try {
    const { accounts } = objectIn(JSON.parse(textOf(dump, slice)), "the dump");
    const reader = new AccountReader();
    const read: DumpedAccount[] = [];
    for (const [name, value] of Object.entries(objectIn(accounts, "its accounts"))) {
      const account = reader.account(name, value);
      if (!isLeftOut(account.address)) read.push(account);
    }
    return { kind: "read", accounts: packAccounts(read) };
  } catch (error) {
    if (error instanceof Unreadable) return { kind: "unreadable", why: error.message };
    if (error instanceof SyntaxError) return { kind: "unreadable", why: "it is no JSON text" };
    throw error;
  }
}

class Unreadable extends Error {}

/** Both bytes that gzip begins with. */
const GZIP_MAGIC = Uint8Array.of(0x1f, 0x8b);

/** Bytes of a text that is read in some milliseconds. */
const SHORT_TEXT_BYTES = 16 * 1024;

function textOf(dump: Uint8Array, slice: TimeSlice | undefined): string {
  if (dump.length > SHORT_TEXT_BYTES) slice?.giveUp();
  const isGzip = equalBytes(dump.subarray(0, GZIP_MAGIC.length), GZIP_MAGIC);
  const text = isGzip ? gunzipped(dump) : dump;
  const { textBytes, textDepth, textParts } = DUMP_LIMITS;
  if (text.length > textBytes) throw tooLong();
  if (text.length > SHORT_TEXT_BYTES) slice?.giveUp();
  const json = Buffer.from(text.buffer, text.byteOffset, text.length).toString("utf8");
  // 32 MiB of opening brackets, which gzip makes of 32 KiB, take the parser more than a gigabyte.
  const excess = jsonExcess(json, { depth: textDepth, parts: textParts, countsItems: true });
  if (excess === "depth") throw new Unreadable(`its text has lists and objects more than ${textDepth} deep`);
  if (excess === "parts") throw new Unreadable(`its text has more than ${textParts} parts`);
  return json;
}

function gunzipped(dump: Uint8Array): Uint8Array {
  try {
    return gunzipSync(dump, { maxOutputLength: DUMP_LIMITS.textBytes });
  } catch (error) {
    const isTooLong = error instanceof RangeError && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw isTooLong ? tooLong() : new Unreadable("it is no gzip");
  }
}

const tooLong = () => new Unreadable(`its text has more than ${DUMP_LIMITS.textBytes} bytes`);

/** Reads accounts, all of which together keep the limits. */
class AccountReader {
  private entries = 0;
  private codeBytes = 0;

  account(name: string, value: unknown): DumpedAccount {
    if (!/^0x[0-9a-f]{40}$/i.test(name)) throw new Unreadable(`${shortened(name)} is no address`);
    this.count();
    const { nonce, balance, code, storage } = objectIn(value, `the account ${name}`);
    return {
      address: asAddress(hexToBytes(name)),
      nonce: nonceOf(nonce, name),
      balanceWei: wordOf(balance, `the balance of ${name}`),
      code: this.code(code, name),
      slots: this.slots(storage ?? {}, name),
    };
  }

  private count(): void {
    this.entries++;
    if (this.entries > DUMP_LIMITS.entries)
      throw new Unreadable(`it has more than ${DUMP_LIMITS.entries} accounts and slots`);
  }

  private code(value: unknown, name: string): Uint8Array {
    const code = value === undefined ? EMPTY_BYTES : typeof value === "string" ? parseHex(value) : undefined;
    if (code === undefined) throw new Unreadable(`the code of ${name} is not hexadecimal`);
    this.codeBytes += code.length;
    if (code.length > DUMP_LIMITS.accountCodeBytes)
      throw new Unreadable(`the code of ${name} has more than ${DUMP_LIMITS.accountCodeBytes} bytes`);
    if (this.codeBytes > DUMP_LIMITS.codeBytes)
      throw new Unreadable(`its code has more than ${DUMP_LIMITS.codeBytes} bytes`);
    return code;
  }

  private slots(value: unknown, name: string): Uint8Array {
    const words: Uint8Array[] = [];
    for (const [slot, content] of Object.entries(objectIn(value, `the storage of ${name}`))) {
      this.count();
      for (const word of [slot, content])
        words.push(bigintToFixedBytes(wordOf(word, `a slot of ${name}`), 32));
    }
    return joinBytes(words);
  }
}

function objectIn(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Unreadable(`${what} is no object`);
  // Any value, or none, may stand under each name.
  return value as Readonly<Record<string, unknown>>;
}

/** A quantity of 256 bits. */
function wordOf(value: unknown, what: string): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-f]{1,64}$/i.test(value))
    throw new Unreadable(`${what} is no quantity of 256 bits`);
  return BigInt(value);
}

/** A number as anvil writes it, or a quantity. */
function nonceOf(value: unknown, name: string): bigint {
  const what = `the nonce of ${name}`;
  if (typeof value === "number" && !(Number.isSafeInteger(value) && value >= 0))
    throw new Unreadable(`${what} is no number up to 2^53`);
  const nonce = typeof value === "number" ? BigInt(value) : wordOf(value, what);
  if (nonce > HIGHEST_NONCE) throw new Unreadable(`${what} is above ${HIGHEST_NONCE}`);
  return nonce;
}

/** A transaction could still follow it (EIP-2681). */
const HIGHEST_NONCE = 2n ** 64n - 2n;

const shortened = (text: string): string => JSON.stringify(text.slice(0, 50));
