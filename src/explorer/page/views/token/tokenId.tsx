import { withChecksum } from "../../chain/addresses.ts";
import { call } from "../../chain/connection.ts";
import { coverageOf } from "../../chain/coverage.ts";
import { useLoaded, useLoadedAtHead } from "../../chain/hooks.ts";
import { useHeight } from "../../chain/recentBlocks.ts";
import { idQuantity, ownerOf, tokenIdPath, uriAnswer } from "../../chain/tokenIds.ts";
import type { ListPage, TokenInfo, TokenTransfer } from "../../chain/tokens.ts";
import { useDecoding } from "../../chain/useDecoding.ts";
import { showBytes, showText } from "../../format.ts";
import { Bytes } from "../../parts/bytes.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Field, Fields } from "../../parts/fields.tsx";
import { AccountLink } from "../../parts/links.tsx";
import { Empty, IndexProblem, Loading, Problem } from "../../parts/notices.tsx";
import { CursorPager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TokenLink } from "../../parts/token.tsx";
import { TransferTable } from "../../parts/transferTable.tsx";
import type { Route } from "../../router.ts";
import { HoldersByBalance } from "./holders.tsx";

const PAGE = 25;
/** Most characters of a URI that are shown. Some contain the picture itself. */
const SHOWN = 2_000;

interface IdProps {
  readonly address: string;
  readonly facts: TokenInfo;
  readonly id: bigint;
  readonly route: Route;
}

/** One id of a token: its owner, its contract's description, and its transfers. */
export function TokenIdView(props: IdProps) {
  const { address, facts, id } = props;
  const isOneOfAKind = facts.standard === "ERC-721";
  return (
    <article class="page">
      <header class="title">
        <p class="kicker">
          {facts.standard} token <TokenLink address={address} />
        </p>
        <h1 class="long">
          № {id.toString()} <Copy text={id.toString()} what="the number" />
        </h1>
      </header>
      <Panel title="Summary">
        <Fields>
          <Field name="Contract">
            <AccountLink address={address} isWhole /> <Copy text={withChecksum(address)} what="the address" />
          </Field>
          {isOneOfAKind && <Owner address={address} id={id} />}
          <Uri address={address} id={id} isOneOfAKind={isOneOfAKind} />
        </Fields>
      </Panel>
      {!isOneOfAKind && <HoldersByBalance {...props} tokenId={id} path={tokenIdPath(address, id)} />}
      <IdTransfers {...props} />
    </article>
  );
}

function Owner({ address, id }: Pick<IdProps, "address" | "id">) {
  const { value, error } = useLoadedAtHead(() => ownerOf(address, id), [address, id]);
  return (
    <Field name="Owner">
      {error !== undefined && <Problem error={error} />}
      {value === null && <span class="note">nobody, as the contract answers</span>}
      {typeof value === "string" && <AccountLink address={value} isWhole />}
    </Field>
  );
}

/** The contract's URI, which is shown but never followed: it may lead anywhere. */
function Uri({
  address,
  id,
  isOneOfAKind,
}: Pick<IdProps, "address" | "id"> & { readonly isOneOfAKind: boolean }) {
  const decoding = useDecoding();
  const { value, error } = useLoaded(() => uriAnswer(address, id, isOneOfAKind), [address, id]);
  const text = typeof value === "string" ? decoding?.decodeText(value) : undefined;
  const isSilent = value === null || (value !== undefined && decoding !== undefined && text === undefined);
  return (
    <Field name="URI">
      {error !== undefined && <Problem error={error} />}
      {isSilent && <span class="note">the contract tells none</span>}
      {text !== undefined && (
        <>
          <Bytes text={showText(text, SHOWN)} />
          <span class="note">
            {text.length > SHOWN && `The beginning of ${showBytes(text.length)}. `}
            The contract chose this text. The page does not fetch what is there.
          </span>
        </>
      )}
    </Field>
  );
}

/** Transfers of the id, the newest first; the first page follows the chain. */
function IdTransfers({ address, id, route }: IdProps) {
  const cursor = route.query.get("after");
  const height = useHeight();
  const found = useLoaded(
    () =>
      call<ListPage<TokenTransfer>>("explorer_getTransfersOfToken", [
        address,
        { size: PAGE, cursor },
        idQuantity(id),
      ]),
    [address, id, cursor, cursor === null ? height : undefined],
  );
  const { items, next } = found.value ?? { items: [], next: null };
  return (
    <Panel title="Transfers" aside={coverageOf(found.value)}>
      {found.error !== undefined && <IndexProblem error={found.error} />}
      {found.value === undefined && found.error === undefined && <Loading />}
      {found.value !== undefined && items.length === 0 && <Empty>No transfer has moved it.</Empty>}
      {items.length > 0 && (
        <TransferTable
          transfers={items.map((transfer) => ofId(transfer, id))}
          caption="Transfers of this number, the newest first"
          hasToken={false}
        />
      )}
      <CursorPager path={tokenIdPath(address, id)} parameter="after" cursor={cursor} next={next} />
    </Panel>
  );
}

/** The part of a transfer that concerns one id, because a batch may move many. */
function ofId(transfer: TokenTransfer, id: bigint): TokenTransfer {
  const amounts = transfer.amounts.filter(({ tokenId }) => tokenId !== null && BigInt(tokenId) === id);
  return { ...transfer, amounts, isCut: false };
}
