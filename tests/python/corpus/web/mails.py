import email
import email.policy
import sys
from email.headerregistry import Address
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime, getaddresses, parsedate_to_datetime
from datetime import UTC, datetime

m = EmailMessage()
m["Subject"] = "Grüße ✓"
m["From"] = Address("Ünal", "u", "mail.test")
m["To"] = "a@b.test, C D <c@d.test>"
m["Date"] = format_datetime(datetime(2024, 1, 2, tzinfo=UTC))
m.set_content("Plain ü\n")
m.add_alternative("<p>Html</p>", subtype="html")
m.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename="d.bin")
m.set_boundary("BOUND")
text = m.as_string()
print(
    [p.get_content_type() for p in m.walk()],
    m.get_body(("plain",)).get_content(),
    [a.addr_spec for a in m["to"].addresses],
)
raw = sys.stdin.buffer.read()
p = email.message_from_bytes(raw, policy=email.policy.default)
print(
    p["subject"],
    p["from"].addresses[0].display_name,
    p.get_content_charset(),
    repr(p.get_content()),
    p.defects,
)
print(
    getaddresses(["A <a@x.test>, b@y.test"]),
    parsedate_to_datetime("Tue, 02 Jan 2024 03:04:05 +0100"),
    p.keys(),
)
mm = MIMEMultipart(boundary="B")
mm.attach(MIMEText("t", "plain", "utf-8"))
print(mm.as_string())
print(next(m.iter_attachments()).get_filename(), "=?utf-8?" in text)
