import type { UnminedTransaction } from "../chain/nodeStatus.ts";
import { showPrice } from "../format.ts";

/** Why no block includes a transaction, as far as the node can know. */
export function whyUnmined({ reason, price, askedPrice }: UnminedTransaction): string {
  const offer = `It offers ${showPrice(price)} for each gas`;
  const asked = showPrice(askedPrice ?? "0x0");
  switch (reason) {
    case "belowBaseFee":
      return `${offer}, less than the base fee of ${asked}.`;
    case "belowMinGasPrice":
      return `${offer}; this node asks for ${asked} (--min-gas-price), as validators with the same floor do.`;
    case "belowMinPriorityFee":
      return `${offer}; this node asks for ${asked} with its --min-priority-fee, as validators with the same floor do.`;
    default:
      return `${offer}, which is enough for this node. Validators may ask for more.`;
  }
}
