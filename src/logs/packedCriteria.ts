import { asAddress } from "../primitives/address.ts";
import { packBytes, unpackBytes } from "../primitives/packedBytes.ts";
import { criteriaOf, type LogCriteria } from "./logMatcher.ts";

/** Criteria on their way between threads (packedBytes.ts): to copy 10,000 small arrays would hold the receiver for 30 ms. */
export interface PackedCriteria {
  readonly addresses: Uint8Array<ArrayBuffer>;
  readonly topics: readonly ("any" | Uint8Array<ArrayBuffer>)[];
  /** Number of addresses and topics. */
  readonly count: number;
}

export function packCriteria(criteria: LogCriteria): PackedCriteria {
  const { addresses, topics } = criteria;
  return {
    count: criteriaOf(criteria),
    addresses: packBytes(addresses),
    topics: topics.map((choice) => (choice === "any" ? choice : packBytes(choice))),
  };
}

export function unpackCriteria({ addresses, topics }: PackedCriteria): LogCriteria {
  return {
    addresses: [...unpackBytes(addresses)].map(asAddress),
    topics: topics.map((choice) => (choice === "any" ? choice : [...unpackBytes(choice)])),
  };
}
