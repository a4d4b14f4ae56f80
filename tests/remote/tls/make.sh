#!/bin/sh
# How the certificates here were made, once: `sh make.sh` in this directory. The keys of both
# authorities are thrown away. All servers have one key; they only differ in what vouches for them.
set -eu
new_key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$1"; }
authority() { # NAME
    new_key "$1.key"
    openssl req -x509 -new -key "$1.key" -days 36500 -subj "/CN=hookctl test $1" -out "$1.pem" \
        -addext keyUsage=critical,keyCertSign
}
leaf() { # NAME KEY SUBJECT USAGE START END [EXTENSION]
    printf 'basicConstraints=CA:FALSE\nextendedKeyUsage=%s\n%s\n' "$4" "${7:-}" >ext
    openssl req -new -key "$2" -subj "/CN=$3" -out csr
    : >index
    printf '[ca]\ndefault_ca=x\n[x]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n' >conf
    openssl ca -batch -notext -config conf -cert ca.pem -keyfile ca.key -in csr -out "$1" \
        -startdate "$5" -enddate "$6" -extfile ext
    rm -f ext csr conf index* [0-9A-F]*.pem
}
from=20200101000000Z
far=21260101000000Z
authority ca
authority stranger
new_key server.key
new_key client.key
leaf server.pem server.key localhost serverAuth $from $far subjectAltName=DNS:localhost,IP:127.0.0.1
leaf expired.pem server.key localhost serverAuth 20200101000000Z 20200201000000Z subjectAltName=DNS:localhost,IP:127.0.0.1
leaf elsewhere.pem server.key elsewhere.example serverAuth $from $far subjectAltName=DNS:elsewhere.example
leaf client.pem client.key hookctl clientAuth $from $far
rm ca.key stranger.key
