// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Exchange} from "./Exchange.sol";
import {Pool} from "./Pool.sol";
import {WrappedNative} from "./WrappedNative.sol";

/// What wallets call: pays pools and calls them in one transaction, over several hops, within the caller's limits. It holds
/// nothing between transactions.
contract Router {
    using SafeERC20 for IERC20;

    struct Provision {
        address token;
        address other;
        uint256 desired;
        uint256 otherDesired;
        uint256 least;
        uint256 otherLeast;
    }

    Exchange public immutable exchange;
    WrappedNative public immutable wrapped;

    error Expired(uint256 deadline, uint256 time);
    error NoPool(address token, address other);
    error InvalidPath(uint256 length);
    error TooLittle(uint256 amount, uint256 least);
    error TooMuch(uint256 amount, uint256 most);
    error NotWrappedNative(address token);

    modifier before(uint256 deadline) {
        if (block.timestamp > deadline) revert Expired(deadline, block.timestamp);
        _;
    }

    constructor(Exchange exchange_, WrappedNative wrapped_) {
        (exchange, wrapped) = (exchange_, wrapped_);
    }

    /// Native coins come from unwrapping alone.
    receive() external payable {
        if (msg.sender != address(wrapped)) revert NotWrappedNative(msg.sender);
    }

    /// Provides both tokens at the pool's present ratio: at most what is desired of each, and at least the least.
    function addLiquidity(Provision calldata provision, address to, uint256 deadline)
        external
        before(deadline)
        returns (uint256 amount, uint256 otherAmount, uint256 shares)
    {
        (amount, otherAmount) = _matching(provision.token, provision.other, provision.desired, provision.otherDesired);
        if (amount < provision.least) revert TooLittle(amount, provision.least);
        if (otherAmount < provision.otherLeast) revert TooLittle(otherAmount, provision.otherLeast);
        Pool pool = _pool(provision.token, provision.other);
        IERC20(provision.token).safeTransferFrom(msg.sender, address(pool), amount);
        IERC20(provision.other).safeTransferFrom(msg.sender, address(pool), otherAmount);
        shares = pool.mint(to);
    }

    function removeLiquidity(
        address token,
        address other,
        uint256 shares,
        uint256 least,
        uint256 otherLeast,
        address to,
        uint256 deadline
    ) external before(deadline) returns (uint256 amount, uint256 otherAmount) {
        Pool pool = _pool(token, other);
        IERC20(address(pool)).safeTransferFrom(msg.sender, address(pool), shares);
        (uint256 amount0, uint256 amount1) = pool.burn(to);
        (amount, otherAmount) = token == address(pool.token0()) ? (amount0, amount1) : (amount1, amount0);
        if (amount < least) revert TooLittle(amount, least);
        if (otherAmount < otherLeast) revert TooLittle(otherAmount, otherLeast);
    }

    function swapExactIn(uint256 amountIn, uint256 leastOut, address[] calldata path, address to, uint256 deadline)
        external
        before(deadline)
        returns (uint256[] memory amounts)
    {
        amounts = _within(quoteOut(amountIn, path), leastOut, amountIn);
        _pay(path, amounts[0]);
        _swap(amounts, path, to);
    }

    function swapExactOut(uint256 amountOut, uint256 mostIn, address[] calldata path, address to, uint256 deadline)
        external
        before(deadline)
        returns (uint256[] memory amounts)
    {
        amounts = _within(quoteIn(amountOut, path), amountOut, mostIn);
        _pay(path, amounts[0]);
        _swap(amounts, path, to);
    }

    function swapExactNativeIn(uint256 leastOut, address[] calldata path, address to, uint256 deadline)
        external
        payable
        before(deadline)
        returns (uint256[] memory amounts)
    {
        if (path[0] != address(wrapped)) revert NotWrappedNative(path[0]);
        amounts = _within(quoteOut(msg.value, path), leastOut, msg.value);
        wrapped.deposit{value: msg.value}();
        IERC20(path[0]).safeTransfer(address(_pool(path[0], path[1])), msg.value);
        _swap(amounts, path, to);
    }

    function swapExactInForNative(
        uint256 amountIn,
        uint256 leastOut,
        address[] calldata path,
        address payable to,
        uint256 deadline
    ) external before(deadline) returns (uint256[] memory amounts) {
        address last = path[path.length - 1];
        if (last != address(wrapped)) revert NotWrappedNative(last);
        amounts = _within(quoteOut(amountIn, path), leastOut, amountIn);
        _pay(path, amounts[0]);
        _swap(amounts, path, address(this));
        uint256 out = amounts[amounts.length - 1];
        wrapped.withdraw(out);
        Address.sendValue(to, out);
    }

    /// What each hop gives for `amountIn`, after fees, rounded down.
    function quoteOut(uint256 amountIn, address[] calldata path) public view returns (uint256[] memory amounts) {
        if (path.length < 2) revert InvalidPath(path.length);
        amounts = new uint256[](path.length);
        amounts[0] = amountIn;
        for (uint256 i = 1; i < path.length; i++) {
            (uint256 reserveIn, uint256 reserveOut) = _reserves(_pool(path[i - 1], path[i]), path[i - 1]);
            uint256 net = amounts[i - 1] * 997;
            amounts[i] = Math.mulDiv(net, reserveOut, reserveIn * 1000 + net);
        }
    }

    /// What each hop needs for `amountOut`, fees included, rounded up.
    function quoteIn(uint256 amountOut, address[] calldata path) public view returns (uint256[] memory amounts) {
        if (path.length < 2) revert InvalidPath(path.length);
        amounts = new uint256[](path.length);
        amounts[path.length - 1] = amountOut;
        for (uint256 i = path.length - 1; i > 0; i--) {
            (uint256 reserveIn, uint256 reserveOut) = _reserves(_pool(path[i - 1], path[i]), path[i - 1]);
            if (amounts[i] >= reserveOut) revert TooMuch(amounts[i], reserveOut);
            amounts[i - 1] = Math.mulDiv(reserveIn * 1000, amounts[i], (reserveOut - amounts[i]) * 997) + 1;
        }
    }

    /// The largest amounts in the pool's ratio; any ratio while it is empty.
    function _matching(address token, address other, uint256 desired, uint256 otherDesired)
        private
        view
        returns (uint256, uint256)
    {
        (uint256 reserve, uint256 otherReserve) = _reserves(_pool(token, other), token);
        if (reserve == 0) return (desired, otherDesired);
        uint256 matching = Math.mulDiv(desired, otherReserve, reserve);
        if (matching <= otherDesired) return (desired, matching);
        return (Math.mulDiv(otherDesired, reserve, otherReserve), otherDesired);
    }

    function _within(uint256[] memory amounts, uint256 leastOut, uint256 mostIn)
        private
        pure
        returns (uint256[] memory)
    {
        uint256 out = amounts[amounts.length - 1];
        if (out < leastOut) revert TooLittle(out, leastOut);
        if (amounts[0] > mostIn) revert TooMuch(amounts[0], mostIn);
        return amounts;
    }

    function _pay(address[] calldata path, uint256 amount) private {
        IERC20(path[0]).safeTransferFrom(msg.sender, address(_pool(path[0], path[1])), amount);
    }

    /// Each pool pays the next one; the last pays the recipient.
    function _swap(uint256[] memory amounts, address[] calldata path, address to) private {
        for (uint256 i = 1; i < path.length; i++) {
            Pool pool = _pool(path[i - 1], path[i]);
            address payee = i + 1 < path.length ? address(_pool(path[i], path[i + 1])) : to;
            bool isFirst = path[i] == address(pool.token0());
            pool.swap(isFirst ? amounts[i] : 0, isFirst ? 0 : amounts[i], payee);
        }
    }

    function _pool(address token, address other) private view returns (Pool pool) {
        pool = exchange.poolOf(token, other);
        if (address(pool) == address(0)) revert NoPool(token, other);
    }

    function _reserves(Pool pool, address token) private view returns (uint256, uint256) {
        (uint256 reserve0, uint256 reserve1) = pool.reserves();
        return token == address(pool.token0()) ? (reserve0, reserve1) : (reserve1, reserve0);
    }
}
