"""Bodies in chunks: as AWS describes and its SDK sends them, cut anywhere, altered anywhere."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from botocore.httpchecksum import AwsChunkedWrapper, Crc32Checksum  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.auth.signatures import (
    IncompleteBody,
    InvalidArgument,
    MalformedTrailer,
    MissingContentLength,
    SignatureDoesNotMatch,
    SignatureError,
    SignedRequest,
)
from headwater.auth.signatures.chunked import Chain, ChunkedBody
from headwater.auth.signatures.payload import CHUNKS, CHUNKS_AND_TRAILER, UNSIGNED_CHUNKS, Chunks, payload_of
from headwater.auth.signatures.signing_keys import Scope, signing_key
from headwater.drive import drive
from tests.auth.signing import ChunkSigner, pieces
from tests.auth.test_signatures import PUBLISHED_KEY, PUBLISHED_SECRET, PUBLISHED_TIME, Home
from tests.auth.world import HERE

TIME = "20130524T000000Z"
SEED = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
TRAILER_SEED = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"
CONTENT = b"a" * 66_560
TRAILER = "x-amz-checksum-crc32c"


def chain(seed: str = SEED) -> Chain:
    scope = Scope("20130524", "us-east-1", "s3")
    return Chain(signing_key(PUBLISHED_SECRET, scope), TIME, str(scope), seed)


def signer(seed: str = SEED) -> ChunkSigner:
    return ChunkSigner(PUBLISHED_SECRET, TIME, "us-east-1", seed)


def read(body: ChunkedBody, sent: Sequence[bytes]) -> tuple[bytes, dict[str, str]]:
    content = b"".join(part for piece in sent for part in body.feed(piece))
    return content, body.finish()


class TestPublishedExamples:
    def test_signed_chunks(self) -> None:
        sent = b"".join(
            [
                b"10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n",
                CONTENT[:65_536],
                b"\r\n400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n",
                CONTENT[65_536:],
                b"\r\n0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n",
            ]
        )
        body = ChunkedBody(Chunks(66_560, signed=True, trailers=frozenset()), chain())
        assert read(body, [sent]) == (CONTENT, {})

    def test_signed_chunks_and_trailer(self) -> None:
        sent = b"".join(
            [
                b"10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n",
                CONTENT[:65_536],
                b"\r\n400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n",
                CONTENT[65_536:],
                b"\r\n0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n",
                b"x-amz-checksum-crc32c:sOO8/Q==\r\n",
                b"x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n",
            ]
        )
        body = ChunkedBody(Chunks(66_560, signed=True, trailers=frozenset({TRAILER})), chain(TRAILER_SEED))
        assert read(body, [sent]) == (CONTENT, {TRAILER: "sOO8/Q=="})

    @pytest.mark.parametrize(
        ("seed", "headers"),
        [
            (SEED, {"x-amz-content-sha256": CHUNKS, "content-length": "66824"}),
            (TRAILER_SEED, {"x-amz-content-sha256": CHUNKS_AND_TRAILER, "x-amz-trailer": TRAILER}),
        ],
    )
    def test_whole_requests(self, seed: str, headers: dict[str, str]) -> None:
        home = Home(PUBLISHED_KEY, PUBLISHED_SECRET)
        home.time.seconds = PUBLISHED_TIME
        sent = headers | {
            "host": "s3.amazonaws.com", "x-amz-date": TIME, "x-amz-storage-class": "REDUCED_REDUNDANCY",
            "content-encoding": "aws-chunked", "x-amz-decoded-content-length": "66560",
        }  # fmt: skip
        sent["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={PUBLISHED_KEY}/20130524/us-east-1/s3/aws4_request,SignedHeaders="
            f"{';'.join(sorted(sent))},Signature={seed}"
        )
        request = SignedRequest("PUT", "/examplebucket/chunkObject.txt", "", sent)
        body = drive(home.auth.signatures.verify(request, HERE)).body()
        signing = signer(seed)
        chunks = b"".join(signing.chunk(each) for each in (CONTENT[:65_536], CONTENT[65_536:], b""))
        assert len(chunks) + 2 == 66_824
        assert b"".join(body.feed(chunks)) == CONTENT
        if "x-amz-trailer" in headers:
            assert body.feed(signing.trailers([(TRAILER, "sOO8/Q==")])) == []
            assert body.finish() == {TRAILER: "sOO8/Q=="}
        else:
            assert body.feed(b"\r\n") == []
            assert body.finish() == {}


def encoded(kind: str, chunks: Sequence[bytes]) -> bytes:
    """A body as a client sends it."""
    signing = signer()
    if kind == UNSIGNED_CHUNKS:
        framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
        return framed + b"0\r\n" + f"{TRAILER}:AAAAAA==\r\n\r\n".encode()
    framed = b"".join(signing.chunk(chunk) for chunk in [*chunks, b""])
    if kind == CHUNKS:
        return framed + b"\r\n"
    return framed + signing.trailers([(TRAILER, "AAAAAA==")]) + b"\r\n"


def decoder(kind: str, length: int) -> ChunkedBody:
    trailers = frozenset() if kind == CHUNKS else frozenset({TRAILER})
    signed_chunks = kind != UNSIGNED_CHUNKS
    return ChunkedBody(Chunks(length, signed_chunks, trailers), chain() if signed_chunks else None)


KINDS = [CHUNKS, CHUNKS_AND_TRAILER, UNSIGNED_CHUNKS]
SOME = [b"one\r\n", b"0\r\n\r\n", b"three" * 100]
LENGTH = sum(len(chunk) for chunk in SOME)


class TestBodies:
    @pytest.mark.parametrize("kind", KINDS)
    @settings(deadline=None)
    @given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.lists(st.integers(0, 50), max_size=30))
    def test_however_cut_give_their_content(self, kind: str, chunks: list[bytes], cuts: list[int]) -> None:
        sent = encoded(kind, chunks)
        content, trailers = read(decoder(kind, len(b"".join(chunks))), list(pieces(sent, cuts)))
        assert content == b"".join(chunks)
        assert trailers == ({} if kind == CHUNKS else {TRAILER: "AAAAAA=="})

    @pytest.mark.parametrize("kind", KINDS)
    def test_altered_at_any_byte_are_refused_or_hold_the_same(self, kind: str) -> None:
        """Where chunks are not signed, only what frames them is looked at here: their checksum is the gateway's."""
        sent = encoded(kind, SOME)
        for position in range(len(sent)):
            for flip in (1, 0x20):
                altered = bytearray(sent)
                altered[position] ^= flip
                try:
                    content, trailers = read(decoder(kind, LENGTH), [bytes(altered)])
                except SignatureError:
                    continue
                if kind == UNSIGNED_CHUNKS:
                    assert len(content) == LENGTH
                else:
                    assert (content, trailers) == read(decoder(kind, LENGTH), [sent]), position

    @pytest.mark.parametrize("kind", KINDS)
    def test_that_end_early_are_refused(self, kind: str) -> None:
        sent = encoded(kind, SOME)
        whole = sent.removesuffix(b"\r\n").removesuffix(b"\r\n")
        for end in range(len(whole)):
            with pytest.raises((IncompleteBody, MalformedTrailer, SignatureDoesNotMatch)):
                read(decoder(kind, LENGTH), [sent[:end]])

    @pytest.mark.parametrize("kind", KINDS)
    def test_that_go_on_are_refused(self, kind: str) -> None:
        with pytest.raises(IncompleteBody):
            read(decoder(kind, LENGTH), [encoded(kind, SOME), b"more"])

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("announced", [LENGTH - 1, LENGTH + 1, 0])
    def test_of_another_length_than_announced_are_refused(self, kind: str, announced: int) -> None:
        with pytest.raises(IncompleteBody):
            read(decoder(kind, announced), [encoded(kind, SOME)])

    def test_with_chunks_swapped_repeated_or_left_out_are_refused(self) -> None:
        signing = signer()
        one, two, end = signing.chunk(b"11"), signing.chunk(b"22"), signing.chunk(b"") + b"\r\n"
        assert read(decoder(CHUNKS, 4), [one, two, end]) == (b"1122", {})
        for sent, length in (([two, one, end], 4), ([one, one, end], 4), ([one, end], 2), ([end], 0)):
            with pytest.raises(SignatureDoesNotMatch):
                read(decoder(CHUNKS, length), sent)

    def test_of_another_request_are_refused(self) -> None:
        with pytest.raises(SignatureDoesNotMatch):
            read(ChunkedBody(Chunks(LENGTH, True, frozenset()), chain("0" * 64)), [encoded(CHUNKS, SOME)])  # noqa: FBT003

    def test_as_the_sdk_sends_them(self) -> None:
        content = bytes(range(256)) * 5000
        wrapped = AwsChunkedWrapper(
            io.BytesIO(content), checksum_cls=Crc32Checksum, checksum_name="x-amz-checksum-crc32", chunk_size=100_000
        )
        sent = wrapped.read()
        body = ChunkedBody(Chunks(len(content), signed=False, trailers=frozenset({"x-amz-checksum-crc32"})), None)
        found, trailers = read(body, [sent])
        assert found == content
        assert trailers.keys() == {"x-amz-checksum-crc32"}


class TestTrailers:
    def decoder(self) -> ChunkedBody:
        return decoder(UNSIGNED_CHUNKS, 0)

    @pytest.mark.parametrize(
        "sent",
        [
            b"",
            b"nonsense\r\n",
            b"x-amz-checksum-sha1:AA==\r\n",
            f"{TRAILER}:AA==\r\n{TRAILER}:AA==\r\n".encode(),
            f"{TRAILER}:AA==\r\nx-amz-trailer-signature:00\r\n".encode(),
        ],
    )
    def test_are_those_that_were_announced(self, sent: bytes) -> None:
        with pytest.raises(MalformedTrailer):
            read(self.decoder(), [b"0\r\n", sent, b"\r\n"])

    def test_are_signed_where_chunks_are(self) -> None:
        framed = signer().chunk(b"")
        with pytest.raises(SignatureDoesNotMatch):
            read(decoder(CHUNKS_AND_TRAILER, 0), [framed, f"{TRAILER}:AA==\r\n\r\n".encode()])

    @pytest.mark.parametrize(("before", "after"), [("", ""), ("\r\n", "\r\n"), ("\r\n", "")])
    def test_may_have_an_empty_line_ahead_of_them_and_none_behind(self, before: str, after: str) -> None:
        sent = f"0\r\n{before}{TRAILER}: AA==\r\n{after}"
        assert read(self.decoder(), [sent.encode()]) == (b"", {TRAILER: "AA=="})


class TestMemory:
    def test_no_line_is_read_without_end(self) -> None:
        body = decoder(UNSIGNED_CHUNKS, 10)
        for _ in range(5):
            body.feed(b"0" * 100)
        with pytest.raises(IncompleteBody, match="more than"):
            body.feed(b"0" * 100)

    def test_no_trailer_is_read_without_end(self) -> None:
        body = decoder(UNSIGNED_CHUNKS, 0)
        body.feed(b"0\r\n")
        for _ in range(16):
            body.feed(b"x" * 1024)
        with pytest.raises(IncompleteBody, match="more than"):
            body.feed(b"x")

    def test_a_chunk_is_handed_out_as_it_comes(self) -> None:
        body = decoder(UNSIGNED_CHUNKS, 1 << 40)
        assert body.feed(b"10000000000\r\n") == []
        for _ in range(100):
            assert body.feed(b"x" * 1000) == [b"x" * 1000]


class TestHeaders:
    def test_a_body_in_chunks_needs_the_length_of_its_content(self) -> None:
        for kind in KINDS:
            with pytest.raises(MissingContentLength):
                payload_of(kind, {})
            for length in ("-1", "x", "", "9" * 20, "٣"):
                with pytest.raises(InvalidArgument):
                    payload_of(kind, {"x-amz-decoded-content-length": length})

    def test_trailers_are_announced_by_name(self) -> None:
        headers = {"x-amz-decoded-content-length": "5", "x-amz-trailer": " X-Amz-Checksum-CRC32C , "}
        for kind in (CHUNKS_AND_TRAILER, UNSIGNED_CHUNKS):
            chunks = payload_of(kind, headers).chunks
            assert chunks is not None
            assert chunks.trailers == {TRAILER}
        assert payload_of(CHUNKS, headers).chunks == Chunks(5, signed=True, trailers=frozenset())
