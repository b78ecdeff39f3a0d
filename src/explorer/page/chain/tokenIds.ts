import { tokenPath } from "./addresses.ts";
import { call } from "./connection.ts";

/** Gas for a call about an id, 5 million, which bounds its answer: some contracts draw the picture themselves. */
const QUESTION_GAS = "0x4c4b40";
/** ownerOf(uint256), tokenURI(uint256) of ERC-721, uri(uint256) of ERC-1155. */
const OWNER_OF = "0x6352211e";
const TOKEN_URI = "0xc87b56dd";
const URI = "0x0e89341c";

/** An id as it was typed or linked; undefined when it is not a number of 256 bits. */
export function readTokenId(text: string): bigint | undefined {
  if (!/^\d{1,78}$/.test(text)) return undefined;
  const id = BigInt(text);
  return id < 2n ** 256n ? id : undefined;
}

export function tokenIdPath(token: string, id: bigint): string {
  return `${tokenPath(token)}/id/${id}`;
}

export function idQuantity(id: bigint): string {
  return `0x${id.toString(16)}`;
}

/** Owner of a non-fungible token, as its contract answers; null when nobody owns it. */
export async function ownerOf(token: string, id: bigint): Promise<string | null> {
  const answer = await ask(token, OWNER_OF, id);
  return answer?.length === 66 && BigInt(answer) > 0n ? `0x${answer.slice(-40)}` : null;
}

/** A contract's answer about the URI of an id, still encoded; null when there is none. */
export function uriAnswer(token: string, id: bigint, isOneOfAKind: boolean): Promise<string | null> {
  return ask(token, isOneOfAKind ? TOKEN_URI : URI, id);
}

async function ask(token: string, selector: string, id: bigint): Promise<string | null> {
  const data = selector + id.toString(16).padStart(64, "0");
  try {
    return await call<string>("eth_call", [{ to: token, data, gas: QUESTION_GAS }, "latest"]);
  } catch (error) {
    if (isReverted(error)) return null;
    throw error;
  }
}

/** Whether the contract reverted, by the code of JSON-RPC; other failures do not mean that the contract has no answer. */
function isReverted(error: unknown): boolean {
  return (
    typeof error === "object" && error !== null && "code" in error && [3, -32000].includes(Number(error.code))
  );
}
